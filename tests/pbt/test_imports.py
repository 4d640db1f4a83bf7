"""No module of pbt imports itself by way of others, wherever in a file the imports stand."""

from graphlib import TopologicalSorter

from tests.launching import ROOT
from tests.test_imports import imported

PATHS = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in (ROOT / "pbt").rglob("*.py")
}


def test_imports_have_no_cycle():
    graph = {
        name: {other if other in PATHS else other.rpartition(".")[0] for other in imported(path)}
        & PATHS.keys()
        for name, path in PATHS.items()
    }
    assert "pbt.run" in graph["pbt.train"]
    TopologicalSorter(graph).prepare()  # which raises CycleError
