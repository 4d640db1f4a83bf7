"""Run the notebooks of examples/ and store what they show: python -m tests.notebooks."""

import os
import sys
import tempfile
from pathlib import Path

import nbclient
import nbformat

from tests.launching import LIMIT, ROOT

INLINE = "module://matplotlib_inline.backend_inline"  # whatever this process has set
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


def executed(path: Path, directory: Path) -> nbformat.NotebookNode:
    """Return a notebook as it is after its cells were run in a directory; a cell that fails raises."""
    notebook = nbformat.read(path, as_version=4)
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "TERM": "dumb", "MPLBACKEND": INLINE}
    # A kernel of this interpreter, whichever are installed for the user.
    client = nbclient.NotebookClient(
        notebook, timeout=LIMIT, resources={"metadata": {"path": str(directory)}}
    )
    client.create_kernel_manager().kernel_spec.argv[0] = sys.executable
    return client.execute(env=environ)


def without_noise(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Return a notebook without what differs from one execution to the next: counts and times."""
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.execution_count = None
            for output in cell.outputs:
                if "execution_count" in output:
                    output.execution_count = None
            cell.outputs = joined(cell.outputs)
    return notebook


def joined(outputs: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """Return outputs whose texts are one where they follow each other."""
    found: list[nbformat.NotebookNode] = []
    for output in outputs:
        if found and output.output_type == "stream" and found[-1].get("name") == output.name:
            found[-1].text += output.text
        else:
            found.append(output)
    return found


def main() -> None:
    """Run and store all."""
    for path in NOTEBOOKS:
        with tempfile.TemporaryDirectory() as directory:
            nbformat.write(without_noise(executed(path, Path(directory))), path)


if __name__ == "__main__":
    main()
