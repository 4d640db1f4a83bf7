import pickle
from pathlib import Path

import pytest

from mpi_es.jit import cache, decorator


def triple(number):
    return 3 * number


def test_a_full_disk_costs_nothing_but_time(double, tmp_path, small_disk):
    small_disk(8, "full")
    for _ in range(2):
        assert double(4, NUMBA_CACHE_DIR=str(tmp_path / "full")) == ["8", "0"]


def times(factor):
    @decorator.compiled()
    def product(number):
        return factor * number

    return product


def plus(function, number):
    @decorator.compiled()
    def total(other):
        return function(other) + number

    return total


def test_functions_of_one_text_are_told_apart_by_what_they_enclose():
    for _ in range(2):  # the second time from the cache
        assert [plus(times(factor), number)(2) for factor in (3, 5) for number in (0, 1)] == [6, 7, 10, 11]


def test_a_pickled_function_is_not_loaded():
    with pytest.raises(TypeError, match=r"times.<locals>\.product: expected a name"):
        pickle.loads(pickle.dumps(times(2)))


@pytest.mark.parametrize("folder", [None, Path("/proc/none")])
def test_without_a_place_to_keep_it_code_is_compiled_each_time(monkeypatch, folder):
    monkeypatch.setattr(cache, "folder", lambda *modules: folder)
    function = decorator.compiled()(triple)
    assert function(2) == 6
    assert function.entry.stats.cache_path is None


def test_nodes_with_other_processors_write_other_files(monkeypatch, tmp_path):
    monkeypatch.setattr(cache, "folder", lambda *modules: tmp_path)
    places = []
    for processor in ("znver4", "sapphirerapids"):
        monkeypatch.setattr(decorator, "get_host_cpu_name", lambda processor=processor: processor)
        places.append(Path(decorator.compiled()(triple).entry.stats.cache_path))
    assert [place.parent for place in places] == [tmp_path / "znver4", tmp_path / "sapphirerapids"]
