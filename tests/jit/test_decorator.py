import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mpi_es.envs.car_racing import simulation
from mpi_es.envs.car_racing.physics import joints
from mpi_es.evaluation import compiled_episode
from mpi_es.jit import callee, decorator, listener
from tests.launching import LIMIT

CALLER = """
from mpi_es.outer.between import number
from mpi_es.jit.decorator import compiled
@compiled()
def double():
    return 2 * number()
if __name__ == "__main__":
    print(double(), sum(double.entry.stats.cache_hits.values()))
"""
BETWEEN = """
from mpi_es.outer.inner import called
from mpi_es.jit.decorator import compiled
@compiled()
def number():
    return called.number()
"""
CALLED = """
from mpi_es.jit.decorator import compiled
@compiled()
def number():
    return {}
"""


@pytest.fixture
def package(tmp_path):
    """A package whose compiled code calls a module one folder down, and that one two folders down."""
    place = tmp_path / "mpi_es"
    (place / "jit").mkdir(parents=True)
    for module in (callee, decorator, listener):
        shutil.copy(module.__file__, place / "jit")
    (place / "outer" / "inner").mkdir(parents=True)
    for folder in ("", "outer", "outer/inner"):
        (place / folder / "__init__.py").touch()
    (place / "caller.py").write_text(CALLER)
    (place / "outer" / "between.py").write_text(BETWEEN)

    def run(number, **environ):
        (place / "outer" / "inner" / "called.py").write_text(CALLED.format(number))
        done = subprocess.run(
            [sys.executable, "-m", "mpi_es.caller"],
            cwd=tmp_path,
            env=os.environ | environ,
            capture_output=True,
            text=True,
            timeout=LIMIT,
        )
        assert done.stderr == ""
        return done.stdout.split()

    return run


def test_machine_code_is_kept_until_a_module_changes_that_it_needs(package, tmp_path):
    kept = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert package(21, **kept) == ["42", "0"]
    assert package(21, **kept) == ["42", "1"]
    (tmp_path / "mpi_es" / "other.py").write_text("unused = 1")
    assert package(21, **kept) == ["42", "1"]
    files = {path.name for path in tmp_path.glob("cache/*/*")}
    assert package(50, **kept) == ["100", "0"]
    left = {path.name for path in tmp_path.glob("cache/*/*")}
    assert len(left) == len(files)
    assert not left & files


@pytest.mark.parametrize("caller", [simulation, compiled_episode])
def test_a_change_in_the_physics_renews_the_simulator_and_the_compiled_episode(caller):
    assert Path(joints.__file__) in decorator.sources(Path(caller.__file__))


def test_a_full_disk_costs_nothing_but_time(package, tmp_path, small_disk):
    small_disk(8, "full")
    for _ in range(2):
        assert package(4, NUMBA_CACHE_DIR=str(tmp_path / "full")) == ["8", "0"]


def test_without_a_place_to_keep_it_code_is_compiled_each_time(package, tmp_path):
    nowhere = {
        "NUMBA_CACHE_DIR": "/proc/none",
        "NUMBA_CACHE_LOCATOR_CLASSES": "UserProvidedCacheLocator",
    }
    for _ in range(2):
        assert package(3, **nowhere) == ["6", "0"]
