"""Tests lie where their modules do: tests/A/test_B.py is about mpi_es/A/B.py."""

import pytest

from tests.launching import ROOT

MODULES = {str(path.relative_to(ROOT / "mpi_es")) for path in (ROOT / "mpi_es").rglob("*.py")}
TESTS = {str(path.relative_to(ROOT / "tests")) for path in (ROOT / "tests").rglob("test_*.py")}
WITHOUT_TESTS = {
    "lazy.py": "what mpi_es and pbt export, which test_door tests",
    "arrays.py": "names two types and does nothing",
    "worlds/car_racing/state.py": "allocates arrays, which the tests of the physics compare with gymnasium's",
    "worlds/car_racing/physics/arrays.py": "allocates arrays, which the tests of the physics fill and read",
    "worlds/car_racing/picture/exact/canvas.py": "allocates arrays, which its neighbours' tests use",
    "policies/tiles.py": "the parameters of a tile, which the tests of batched modules fill and read",
    "worlds/bipedal_terrain.py": "the walker's terrain, which its tests compare with gymnasium's",
    "worlds/several.py": "steps the states of the vector environment, which is tested",
    "worlds/vector_arguments.py": "checks arguments of the vector environments, which are tested",
    "worlds/world.py": "a protocol and its types",
    "worlds/car_racing/picture/sizes.py": "numbers of gymnasium's, which the tests of the pictures use",
}
# Folders whose modules are tested as a whole, step by step beside what they repeat; some also alone.
AS_A_WHOLE = {
    "policies/kernels/": "policies/test_contract.py",  # beside torch
    "worlds/box2d/": "worlds/box2d/test_scene.py",  # beside pybox2d
    "worlds/classic_control/": "worlds/classic_control/test_lockstep.py",  # beside gymnasium
}
# Whole programs, attacks on them, the job scripts, the studies, and another package.
ABOUT_SEVERAL = ("attacks/", "benchmarks/", "faults/", "mpi/", "slurm/", "pbt/")
ABOUT_ANOTHER = {
    "envs/test_contract.py": "what holds for every environment",
    "envs/test_make.py": "mpi_es/envs/__init__.py",
    "policies/test_contract.py": "what holds for every policy",
    "policies/test_make.py": "mpi_es/policies/__init__.py",
    "strategies/test_contract.py": "what holds for every strategy",
    "test_docs.py": "the README and the pages in docs/",
    "test_door.py": "what mpi_es and pbt export",
    "test_examples.py": "examples/",
    "test_imports.py": "which way all imports point",
    "test_integers.py": "integers, from evolve to the strategy",
    "test_mirror.py": "the tests",
    "test_notebooks.py": "the notebooks in examples/",
    "test_packaging.py": "pyproject.toml and what lies beside it",
}


def place_of_tests(module: str) -> str:
    """Return where the tests of a module lie."""
    folder, _, name = module.replace("__main__", "main").rpartition("/")
    return f"{folder}/test_{name}" if folder else f"test_{name}"


@pytest.mark.parametrize("module", sorted(name for name in MODULES if not name.endswith("__init__.py")))
def test_a_module_has_tests_under_its_name(module):
    of_folder = any(module.startswith(folder) for folder in AS_A_WHOLE)
    assert of_folder or (place_of_tests(module) in TESTS) != (module in WITHOUT_TESTS)


def test_tests_are_about_a_module_or_in_the_list_of_others():
    ours = {name for name in TESTS if not name.startswith(ABOUT_SEVERAL)} - {*AS_A_WHOLE.values()}
    assert ours - set(map(place_of_tests, MODULES)) == ABOUT_ANOTHER.keys() - {*AS_A_WHOLE.values()}
    assert {*AS_A_WHOLE.values()} <= TESTS
    assert WITHOUT_TESTS.keys() <= MODULES
