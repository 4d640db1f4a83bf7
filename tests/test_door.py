"""What users import: `import mpi_es` and `import pbt` are quick, and their names are there."""

import ast
import sys
from pathlib import Path

import pytest

import mpi_es
import pbt
from tests.launching import call

PACKAGES = {"mpi_es": mpi_es, "pbt": pbt}
SLOW = ("mpi4py", "torch", "numba", "gymnasium", "numpy", "h5py")
MAKE = "gymnasium.make('mpi_es/CarRacing-v3', max_episode_steps=7).spec.max_episode_steps"

each = pytest.mark.parametrize("name", PACKAGES)


def printed(code):
    """Return what a fresh interpreter prints."""
    return call(sys.executable, "-c", code, check=True).stdout.strip()


@each
def test_an_import_loads_nothing_that_takes_long(name):
    assert printed(f"import sys, {name}; print({{*sys.modules}} & {{*{SLOW}}})") == "set()"


@pytest.mark.parametrize("order", ["mpi_es, gymnasium", "gymnasium, mpi_es"])
def test_gymnasium_knows_our_environments_in_either_order_of_import(order):
    assert printed(f"import {order}; print({MAKE})") == "7"


@each
def test_every_public_name_is_there(name):
    package = PACKAGES[name]
    assert all(getattr(package, public) is not None for public in package.__all__)
    assert dir(package) == package.__all__ == sorted(package.__all__)


@each
def test_the_public_names_are_those_that_are_found_lazily(name):
    package = PACKAGES[name]
    lazily = {public for names in package._MODULES.values() for public in names}
    assert lazily == set(package.__all__) - {"__version__"}


@each
def test_type_checkers_see_the_same_names(name):
    tree = ast.parse(Path(PACKAGES[name].__file__).read_text(encoding="utf-8"))
    block, _ = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {node.module: tuple(alias.name for alias in node.names) for node in block.body}
    assert seen == PACKAGES[name]._MODULES


@each
def test_an_unknown_name_is_an_attribute_error(name):
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute 'evolved'"):
        _ = PACKAGES[name].evolved
    assert not hasattr(PACKAGES[name], "Trainer")
