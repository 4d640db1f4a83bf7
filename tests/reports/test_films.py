import base64

from mpi_es.reports import films
from mpi_es.reports.films import films as section


def test_a_run_without_a_film_has_no_section(tmp_path):
    (tmp_path / "run.h5").touch()
    assert section(tmp_path, tmp_path) == []


def test_a_film_that_is_still_being_written_is_left_out(tmp_path):
    (tmp_path / ".film.tmp.mp4").write_bytes(b"fi")
    assert section(tmp_path, tmp_path) == []


def test_small_films_are_a_part_of_the_page(tmp_path):
    (tmp_path / "a.mp4").write_bytes(b"film")
    (tmp_path / "b.gif").write_bytes(b"picture")
    title, first, second = section(tmp_path, tmp_path)
    assert title == "<h2>Films</h2>"
    assert (
        f'preload="metadata" src="data:video/mp4;base64,{base64.b64encode(b"film").decode()}"></video>'
        in first
    )
    assert f'<img alt="b.gif" src="data:image/gif;base64,{base64.b64encode(b"picture").decode()}">' in second


def test_large_films_are_loaded_from_where_they_lie(tmp_path, monkeypatch):
    monkeypatch.setattr(films, "_EMBEDDED", 3)
    run = tmp_path / "run 1"
    run.mkdir()
    (run / "a.mp4").write_bytes(b"film")
    assert 'src="run%201/a.mp4"></video>' in section(run, tmp_path)[1]
    assert "a.mp4, which the page loads from run 1/a.mp4" in section(run, tmp_path)[1]
    assert 'src="a.mp4"></video>' in section(run, run)[1]
