from pathlib import Path

import pytest

from mpi_es.jit import cache, decorator


def triple(number):
    return 3 * number


def test_a_full_disk_costs_nothing_but_time(double, tmp_path, small_disk):
    small_disk(8, "full")
    for _ in range(2):
        assert double(4, NUMBA_CACHE_DIR=str(tmp_path / "full")) == ["8", "0"]


@pytest.mark.parametrize("folder", [None, Path("/proc/none")])
def test_without_a_place_to_keep_it_code_is_compiled_each_time(monkeypatch, folder):
    monkeypatch.setattr(cache, "folder", lambda module: folder)
    function = decorator.compiled()(triple)
    assert function(2) == 6
    assert function.entry.stats.cache_path is None


def test_nodes_with_other_processors_write_other_files(monkeypatch, tmp_path):
    monkeypatch.setattr(cache, "folder", lambda module: tmp_path)
    places = []
    for processor in ("znver4", "sapphirerapids"):
        monkeypatch.setattr(decorator, "get_host_cpu_name", lambda processor=processor: processor)
        places.append(Path(decorator.compiled()(triple).entry.stats.cache_path))
    assert [place.parent for place in places] == [tmp_path / "znver4", tmp_path / "sapphirerapids"]
