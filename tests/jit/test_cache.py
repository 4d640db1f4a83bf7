import os
import time

from mpi_es.jit import cache
from mpi_es.jit.decorator import compiled


def test_machine_code_is_kept_until_a_module_changes_that_it_needs(double, tmp_path):
    kept = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert double(21, **kept) == ["42", "0"]
    assert double(21, **kept) == ["42", "1"]
    (tmp_path / "world" / "other.py").write_text("unused = 1")
    assert double(21, **kept) == ["42", "1"]
    assert double(50, **kept) == ["100", "0"]
    assert double(21, **kept) == ["42", "1"]


def test_code_that_was_not_used_for_a_month_is_removed(double, tmp_path):
    kept = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    double(1, **kept)
    double(2, **kept)
    folders = [path.parents[2] for path in tmp_path.rglob("cache/**/*.nbi")]
    assert len(folders) == 2
    for folder in folders:
        os.utime(folder, (0, time.time() - 31 * 86400))
    assert double(2, **kept) == ["4", "1"]  # it is used, and so kept
    (left,) = tmp_path.rglob("cache/**/*.nbi")
    assert left.parents[2] in folders


@compiled()
def here(x):
    return x


def test_without_a_file_or_a_place_there_is_no_folder(tmp_path, monkeypatch, unwritable):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    scope = {}
    exec(compile("def cell(x): return x", "<ipython-input-1>", "exec"), scope)
    assert cache.folder(compiled()(scope["cell"])) is None
    assert cache.folder(here).is_relative_to(tmp_path)
    monkeypatch.setattr(cache, "cache_places", lambda *_: [unwritable])
    assert cache.folder(here) is None
