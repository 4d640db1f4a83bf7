import pytest

from mpi_es.jit import cache
from mpi_es.jit.listener import announce_compilation, heard_by

DOUBLE = """
from mpi_es.jit.decorator import compiled

@compiled()
def double(number):
    return 2 * number
"""


def test_the_outermost_hears_and_nobody_after_it():
    heard = []
    with heard_by(lambda: heard.append(1)), heard_by(lambda: heard.append(2)):
        announce_compilation()
    announce_compilation()
    assert heard == [1]


@pytest.mark.parametrize(("directory", "times"), [("cache", [1, 0]), ("/proc/none", [1, 1])])
def test_a_function_is_heard_of_when_it_is_compiled_and_not_when_it_is_loaded(
    directory, times, tmp_path, monkeypatch, load
):
    monkeypatch.setattr(cache, "folder", lambda module: tmp_path / directory)
    for expected in times:
        module, heard = load(DOUBLE), []
        with heard_by(lambda heard=heard: heard.append(1)):
            assert module.double(4) == 8
            assert module.double(5) == 10
        assert sum(heard) == expected
