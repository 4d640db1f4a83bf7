"""A user's compiled functions, in a package outside ours."""

import importlib.util
import os
import sys

import pytest

from tests.launching import call

CALLER = """
from world.outer.between import number
from mpi_es.jit.decorator import compiled
@compiled()
def double():
    return 2 * number()
if __name__ == "__main__":
    print(double(), sum(double.entry.stats.cache_hits.values()))
"""
BETWEEN = """
from .inner import called
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
def double(tmp_path):
    """Return a function that prints twice a number of the innermost module, and how often code was loaded."""
    world = tmp_path / "world"
    (world / "outer" / "inner").mkdir(parents=True)
    for folder in (world, world / "outer", world / "outer" / "inner"):
        (folder / "__init__.py").touch()
    (world / "caller.py").write_text(CALLER)
    (world / "outer" / "between.py").write_text(BETWEEN)

    def run(number: int, **environ: str) -> list[str]:
        (world / "outer" / "inner" / "called.py").write_text(CALLED.format(number))
        done = call(sys.executable, "-m", "world.caller", cwd=tmp_path, env=os.environ | environ)
        assert done.stderr == ""
        return done.stdout.split()

    return run


@pytest.fixture
def load(tmp_path):
    """Return a function that imports a text as a module of a new file, of which no machine code is kept."""

    def imported(text):
        path = tmp_path / "loaded.py"
        path.write_text(text)
        spec = importlib.util.spec_from_file_location("loaded", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return imported
