"""python -m mpi_es.where MODULE ARGUMENTS…: the directory of the run that a command means, for job scripts.

It starts no MPI, and tells a mistake in the arguments as the command itself would.
"""

import importlib
import sys

from mpi_es.errors import UserError


def main(arguments: list[str]) -> int:
    """Print the directory; return 2 after a mistake."""
    module, *rest = arguments
    try:
        print(importlib.import_module(module).prepare(["--continue", *rest]).directory)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
