import tempfile
from pathlib import Path

import pytest

from mpi_es.errors import RolloutError
from mpi_es.evaluation.function.call_directories import CallDirectories
from mpi_es.run_file.checkpoint import NOWHERE


@pytest.mark.parametrize(("keep", "kept"), [("failed", {"bad"}), ("all", {"good", "bad"})])
def test_directories_of_calls_that_failed_are_kept_or_those_of_all(tmp_path, keep, kept):
    directories = CallDirectories(tmp_path, keep)
    for name in ("good", "bad"):
        path = directories.begin(name)
        (path / "log").write_text(name)
        directories.end(path, failed=name == "bad")
    assert {path.parent.name for path in tmp_path.glob("calls/*/log")} == kept


def test_a_call_that_is_repeated_begins_with_an_empty_directory(tmp_path):
    directories = CallDirectories(tmp_path, "failed")
    (directories.begin("00001-0002") / "log").touch()  # and the job is killed
    assert [*directories.begin("00001-0002").iterdir()] == []


def test_the_path_holds_wherever_a_call_goes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    directories = CallDirectories(Path("run"), "failed")
    monkeypatch.chdir("/")
    assert directories.begin("00001-0002") == tmp_path / "run" / "calls" / "00001-0002"


@pytest.mark.parametrize("keep", ["failed", "all"])
def test_a_run_without_files_keeps_no_directory(tmp_path, monkeypatch, keep):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    directories = CallDirectories(NOWHERE, keep)
    path = directories.begin("00001-0002")
    assert path.parent == tmp_path
    directories.end(path, failed=True)
    assert not path.exists()


def test_a_place_where_no_directory_can_be_made_is_named(unwritable):
    with pytest.raises(RolloutError, match=f"cannot make {unwritable}.* \\(Not a directory\\)"):
        CallDirectories(unwritable, "failed").begin("00001-0002")
