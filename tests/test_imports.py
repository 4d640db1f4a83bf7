"""Imports point one way: a package imports from those before it only."""

import ast
from pathlib import Path

import pytest

from tests.launching import ROOT

GROUND = {"errors", "extras", "seeds", "arrays", "text", "lazy", "registration"}
FLOORS = [  # each imports from the ground, from those above it and from what is named beside it
    {"config", "run_file"},
    {"parallel"},
    {"jit"},
    {"worlds"},
    {"strategies"},
    {"policies"},
    {"envs"},
    {"evaluation"},
    {"papers"},
    {"agents", "film"},
]
ASIDE = {
    "telemetry": {"config", "run_file"},
    "reports": {"config", "run_file"},
    "diagnosis": {"config", "run_file", "parallel", "jit", "worlds", "envs", "evaluation"},
    "jobs": set(),
    "run": {"config", "run_file", "parallel", "strategies", "evaluation", "telemetry"},
}
COMMANDS = {
    "__init__",
    "__main__",
    "train",
    "evolve_agent",
    "evolve_function",
    "scripts",
    "search",
    "gest",
    "evaluate",
    "report",
    "export",
    "status",
    "doctor",
    "completion",
}


def allowed(package: str) -> set[str]:
    """Return what a package of mpi_es may import from."""
    if package in GROUND:
        return GROUND
    if package in ASIDE:
        return GROUND | ASIDE[package] | {package}
    below: set[str] = set()
    for floor in FLOORS:
        if package in floor:
            return GROUND | below | floor
        below |= floor
    raise AssertionError(f"{package}: expected a place in FLOORS, ASIDE, GROUND or COMMANDS")


def imported(path: Path) -> set[str]:
    """Return the dotted names that a module imports, wherever in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


MODULES = {str(path.relative_to(ROOT)): path for path in sorted((ROOT / "mpi_es").rglob("*.py"))}


@pytest.mark.parametrize("name", MODULES)
def test_imports_point_one_way(name):
    names = imported(MODULES[name])
    assert not {other for other in names if other.split(".")[0] in ("pbt", "tests", "benchmarks")}
    package = name.split("/")[1].removesuffix(".py")
    if package not in COMMANDS:
        ours = {other.split(".")[1] for other in names if other.startswith("mpi_es.")}
        assert ours <= allowed(package) | {"__version__"}
