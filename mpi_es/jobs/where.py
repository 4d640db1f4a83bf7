"""python -m mpi_es.jobs.where MODULE ARGUMENTS…: the directory of the run that a command begins or continues.

It does not start MPI, and reports mistakes in the arguments like the command itself. Only the directory goes
to stdout; everything else, such as output of an environment's module, goes to stderr.
"""

import importlib
import os
import sys
from typing import TextIO

from mpi_es.errors import UserError


def main(arguments: list[str], answer: TextIO) -> int:
    """Print the directory; return 2 after a mistake, and after --help, which has no directory."""
    module, *rest = arguments
    try:
        print(importlib.import_module(module).prepare(["--continue", *rest]).directory, file=answer)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except SystemExit:
        return 2
    return 0


if __name__ == "__main__":
    with os.fdopen(os.dup(1), "w") as stdout:
        os.dup2(2, 1)  # libraries in C print too
        sys.exit(main(sys.argv[1:], stdout))
