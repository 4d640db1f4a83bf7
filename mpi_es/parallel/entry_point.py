"""Run a command on all ranks: how every entry module starts and ends."""

import io
import os
import signal
import sys
from collections.abc import Callable
from typing import NoReturn

from threadpoolctl import threadpool_limits

from mpi_es.errors import RolloutError, UserError, warn
from mpi_es.parallel import launcher_watch
from mpi_es.parallel.collectives import Comm
from mpi_es.parallel.output import drop_unread
from mpi_es.parallel.rank_loss import ANEW, BeginAnew, RankLost, shrink, survivable
from mpi_es.parallel.start_mpi import abort, connect
from mpi_es.parallel.stop_signal import ignore
from mpi_es.parallel.watch import watched


def launch(main: Callable[[Comm, list[str]], int]) -> NoReturn:
    """Run `main` on every rank and exit with its code, or print an error on one line and exit with 2.

    `main` raises UserError and RolloutError only on all ranks together. Any other exception ends the whole
    job at once, since the other ranks would wait for this one. If others can outlive a rank that dies, they
    continue without it; if `main` cannot, it is called again, with the arguments that it has left.
    """
    if sys.stdout is None:  # it was closed
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal that lacks a character must not end a run
    # Until main catches Ctrl-C it ends the process, as SIGTERM does: an exception on some ranks could hang.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        comm = connect(os.environ)  # it may end a process that has nothing to print
    except UserError as error:
        sys.exit(_print_error(error))
    arguments, code = sys.argv[1:], None
    try:
        while code is None:
            try:
                code = _once(main, comm, arguments)
            except BeginAnew as loss:
                comm = loss.comm
                if comm.rank == 0:
                    warn(f"ranks lost; {comm.size} continue from the last checkpoint")
    except BaseException as error:  # the others would wait for ever
        code = 1
        # As with `| head`: the reader of the only rank's output is gone.
        if not (isinstance(error, BrokenPipeError) and comm.size == 1 and drop_unread()):
            abort(comm)
    _leave(code)


def _once(main: Callable[[Comm, list[str]], int], comm: Comm, arguments: list[str]) -> int:
    """Return main's exit code, or raise BeginAnew if main cannot continue without a lost rank."""
    try:
        # One thread per rank; also, results of linear algebra then do not depend on the number of cores.
        with threadpool_limits(1), watched(comm):
            code = _answered(main, comm, arguments)
            ignore()
        return code
    except RankLost:
        shrink(comm, ANEW)  # raises BeginAnew
        raise


def _leave(code: int) -> NoReturn:
    """End this process."""
    if survivable() or launcher_watch.LOST.is_set():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)  # MPI_Finalize may wait for dead ranks, and needs the launcher
    sys.exit(code)


def _answered(main: Callable[[Comm, list[str]], int], comm: Comm, arguments: list[str]) -> int:
    """Return main's exit code, or 2 after printing an error."""
    try:
        return main(comm, arguments)
    except (UserError, RolloutError) as error:
        return _print_error(error) if comm.rank == 0 else 2
    except SystemExit as end:  # --help, or the user's code
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr, flush=True)
        return 1


def _print_error(error: Exception) -> int:
    print(f"error: {error}", file=sys.stderr, flush=True)
    return 2
