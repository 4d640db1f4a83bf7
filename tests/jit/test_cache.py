from pathlib import Path

import pytest

from mpi_es.jit import cache
from mpi_es.worlds.car_racing import simulation, world
from mpi_es.worlds.car_racing.physics import joints


def test_machine_code_is_kept_until_a_module_changes_that_it_needs(double, tmp_path):
    kept = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert double(21, **kept) == ["42", "0"]
    assert double(21, **kept) == ["42", "1"]
    (tmp_path / "world" / "other.py").write_text("unused = 1")
    assert double(21, **kept) == ["42", "1"]
    files = {path for path in tmp_path.rglob("cache/**/*.nb?")}
    assert double(50, **kept) == ["100", "0"]
    left = {path for path in tmp_path.rglob("cache/**/*.nb?")}
    assert len(left) == len(files) == 2
    assert not left & files


@pytest.mark.parametrize("caller", [simulation, world])
def test_a_change_in_the_physics_renews_the_simulator_and_the_compiled_episode(caller):
    assert Path(joints.__file__) in cache.sources(Path(caller.__file__))


def test_a_script_needs_the_modules_next_to_it_and_ours_but_no_other_package(tmp_path):
    (tmp_path / "numpy").mkdir()
    (tmp_path / "numpy" / "__init__.py").touch()
    (tmp_path / "near.py").touch()
    (tmp_path / "script.py").write_text("import near\nimport numpy\nfrom mpi_es.jit import cache\n")
    needed = cache.sources(tmp_path / "script.py")
    assert {tmp_path / "near.py", Path(cache.__file__)} < set(needed)
    assert tmp_path / "numpy" / "__init__.py" not in needed


def test_without_a_file_or_a_place_there_is_no_folder(tmp_path, monkeypatch, unwritable):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert cache.folder(Path("<ipython-input-1>")) is None
    monkeypatch.setattr(cache, "cache_places", lambda *_: [unwritable])
    assert cache.folder(Path(__file__)) is None
