"""From a command to all ranks: what every entry module starts with and ends in."""

import os
import sys
import traceback
from collections.abc import Callable
from typing import NoReturn

from threadpoolctl import threadpool_limits

from mpi_es.comm import Comm
from mpi_es.errors import RolloutError, UserError
from mpi_es.launcher import connect


def launch(main: Callable[[Comm, list[str]], int]) -> NoReturn:
    """Run `main` on every rank and exit with its code: 2 for a user's mistake, 1 for a failed rollout.

    `main` raises UserError and RolloutError only where the ranks agree that it is over. Anything else
    ends the whole job at once, since the other ranks would wait for this one.
    """
    comm = None
    try:
        comm = connect(os.environ)
        # One thread a rank; and linear algebra whose results do not depend on the number of cores.
        with threadpool_limits(1):
            code = main(comm, sys.argv[1:])
    except (UserError, RolloutError) as error:
        if comm is None or comm.rank == 0:
            print(f"error: {error}", file=sys.stderr, flush=True)
        code = 2 if isinstance(error, UserError) else 1
    except Exception:
        traceback.print_exc()
        sys.stderr.flush()
        if comm is None:
            sys.exit(1)
        comm.Abort(1)
    sys.exit(code)
