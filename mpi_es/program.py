"""From a command to all ranks: what every entry module starts with and ends in."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

from threadpoolctl import threadpool_limits

from mpi_es import sentry
from mpi_es.comm import Comm, gather_objects, of_this_node, wait
from mpi_es.errors import RolloutError, UserError
from mpi_es.launcher import abort, connect
from mpi_es.signals import ignore


def launch(main: Callable[[Comm, list[str]], int]) -> NoReturn:
    """Run `main` on every rank and exit with its code, or 2 after a line that says what went wrong.

    `main` raises UserError and RolloutError only where the ranks agree that it is over. Anything else
    ends the whole job at once, since the other ranks would wait for this one.
    """
    # Until main catches Ctrl-C it ends a process, as SIGTERM does: an exception on some ranks could hang.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    comm = None
    try:
        comm = connect(os.environ)
        # One thread a rank; and linear algebra whose results do not depend on the number of cores.
        with threadpool_limits(1), watched(comm):
            code = _answered(main, comm)
            ignore()
    except UserError as error:
        code = _tell(error)
    except Exception:
        abort(comm)
        code = 1
    sys.exit(code)


def _answered(main: Callable[[Comm, list[str]], int], comm: Comm) -> int:
    """Return main's exit code, or 2 after the line that says what went wrong."""
    try:
        return main(comm, sys.argv[1:])
    except (UserError, RolloutError) as error:
        return _tell(error) if comm.rank == 0 else 2
    except SystemExit as end:  # --help
        return int(end.code or 0)


def _tell(error: Exception) -> int:
    print(f"error: {error}", file=sys.stderr, flush=True)
    return 2


@contextmanager
def watched(comm: Comm) -> Iterator[None]:
    """Have a sentry tell which rank dies inside the block, at whose end all leave together. Collective."""
    if comm.size == 1 or not hasattr(os, "pidfd_open"):
        yield
        return
    node = of_this_node(comm)
    ranks = gather_objects(node, f"{os.getpid()}:{comm.rank}")
    process = None
    if ranks:
        # In a session of its own it outlives the signals with which a launcher cleans up.
        command = [sys.executable, "-I", "-S", sentry.__file__, *ranks]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
    yield
    if process is not None and process.stdin is not None:
        with suppress(BrokenPipeError):  # it is gone already
            process.stdin.write(sentry.ALL_WELL)
            process.stdin.close()
        process.wait()
    wait(comm.Ibarrier())  # nobody ends before every sentry knows that it may
