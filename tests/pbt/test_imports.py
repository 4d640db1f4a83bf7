"""No module of pbt imports itself by way of others, wherever in a file the imports stand."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATHS = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in (ROOT / "pbt").rglob("*.py")
}


def imported(path):
    """Return the modules of pbt that a file imports, also those that a function imports late."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            members = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= {name if name in PATHS else node.module for name in members}
    return names & PATHS.keys()


def test_imports_have_no_cycle():
    graph = {name: imported(path) for name, path in PATHS.items()}
    assert "pbt.run" in graph["pbt.train"]
    TopologicalSorter(graph).prepare()  # which raises CycleError
