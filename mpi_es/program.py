"""From a command to all ranks: what every entry module starts with and ends in."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

from threadpoolctl import threadpool_limits

from mpi_es import sentry
from mpi_es.comm import Comm, gather_objects, of_this_node
from mpi_es.errors import RolloutError, UserError
from mpi_es.launcher import abort, connect
from mpi_es.signals import StopFlag, ignore
from mpi_es.survival import ANEW, END, BeginAnew, RankLost, losses, shrink, survivable
from mpi_es.waiting import wait


def launch(
    main: Callable[[Comm, list[str]], int], again: Callable[[list[str]], list[str]] = list
) -> NoReturn:
    """Run `main` on every rank and exit with its code, or 2 after a line that says what went wrong.

    `main` raises UserError and RolloutError only where the ranks agree that it is over. Anything else
    ends the whole job at once, since the other ranks would wait for this one; but a rank that dies,
    where others can outlive it, is left behind, and where `main` cannot go on without it, it is called again.

    Args:
        again: the arguments with which it goes on where it was, of those that it was called with.
    """
    # Until main catches Ctrl-C it ends a process, as SIGTERM does: an exception on some ranks could hang.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    comm, arguments, code = None, sys.argv[1:], None
    try:
        comm = connect(os.environ)
        while code is None:
            try:
                code = _once(main, comm, arguments)
            except BeginAnew as loss:
                StopFlag.hand_over()
                comm, arguments = loss.comm, again(arguments)
                if comm.rank == 0:
                    print(f"warning: ranks lost; {comm.size} begin anew", file=sys.stderr, flush=True)
    except UserError as error:
        code = _tell(error)
    except Exception as error:
        code = 1
        if not _unread(comm, error):
            abort(comm)
    _leave(comm, code)


def _unread(comm: Comm | None, error: Exception) -> bool:
    """Tell whether the reader of the only rank's output is gone, as with `| head`; then write to nobody."""
    if not isinstance(error, BrokenPipeError) or (comm is not None and comm.size > 1):
        return False
    output = select.poll()
    output.register(sys.stdout, 0)  # which tells of errors only
    gone = bool(output.poll(0))
    if gone:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return gone


def _once(main: Callable[[Comm, list[str]], int], comm: Comm, arguments: list[str]) -> int:
    """Return main's exit code, or raise BeginAnew where a rank was lost that main cannot go on without."""
    try:
        # One thread a rank; and linear algebra whose results do not depend on the number of cores.
        with threadpool_limits(1), watched(comm):
            code = _answered(main, comm, arguments)
            ignore()
        return code
    except RankLost:
        shrink(comm, ANEW)  # which raises BeginAnew
        raise


def _leave(comm: Comm | None, code: int) -> NoReturn:
    """End this process."""
    if comm is not None and survivable():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)  # MPI's own end waits now and then for the dead, of which not all ranks need know
    sys.exit(code)


def _answered(main: Callable[[Comm, list[str]], int], comm: Comm, arguments: list[str]) -> int:
    """Return main's exit code, or 2 after the line that says what went wrong."""
    try:
        return main(comm, arguments)
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
    if comm.size == 1:
        yield
        return
    with losses(comm):
        process = _post_sentry(comm)
    try:
        with losses(comm):
            yield
    except (RankLost, BeginAnew):
        _relieve(process)
        raise
    _relieve(process)
    with suppress(RankLost), losses(comm):
        wait(comm.Ibarrier())  # nobody ends before every sentry knows that it may
    if survivable():
        shrink(comm, END)


def _post_sentry(comm: Comm) -> "subprocess.Popen[bytes] | None":
    """Start a sentry on each node, by one of its ranks. Collective."""
    if not hasattr(os, "pidfd_open"):
        return None
    node = of_this_node(comm)
    ranks = gather_objects(node, f"{os.getpid()}:{comm.rank}")
    if not ranks:
        return None
    # In a session of its own it outlives the signals with which a launcher cleans up.
    whom = sentry.EACH if survivable() else sentry.FIRST
    command = [sys.executable, "-I", "-S", sentry.__file__, whom, *ranks]
    return subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)


def _relieve(process: "subprocess.Popen[bytes] | None") -> None:
    """Tell this rank's sentry, if it has one, that all is well."""
    if process is not None and process.stdin is not None:
        with suppress(BrokenPipeError):  # it is gone already
            process.stdin.write(sentry.ALL_WELL)
            process.stdin.close()
        process.wait()
