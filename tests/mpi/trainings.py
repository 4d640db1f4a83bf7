"""python -m tests.mpi.trainings FILE: several trainings, one after the other in the same processes.

The file is a JSON list with the arguments of each. A start costs more than one of the tests' trainings.
"""

import json
from pathlib import Path

from mpi_es.parallel.collectives import Comm
from mpi_es.parallel.entry_point import launch
from mpi_es.train import main as train


def main(comm: Comm, arguments: list[str]) -> int:
    """Train as each list of arguments says. Collective."""
    for words in json.loads(Path(arguments[0]).read_text()):
        train(comm, words)
    return 0


if __name__ == "__main__":
    launch(main)
