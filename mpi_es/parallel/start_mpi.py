"""Start MPI, or explain why this launcher and this MPI library do not fit; before anything else."""

import faulthandler
import os
import re
import sys
import time
import traceback
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple

from mpi_es.errors import UserError
from mpi_es.parallel import launcher_watch, shared_memory
from mpi_es.parallel.collectives import Comm, SerialComm
from mpi_es.parallel.output import drop_unread
from mpi_es.parallel.rank_loss import survivable
from mpi_es.parallel.shared_memory import NoRoom
from mpi_es.parallel.stop_signal import keep_hang_up

# srun comes last: an mpiexec may start its helpers with srun, one on each node, and srun's variables then
# count nodes.
_OPEN_MPI, _MVAPICH, _MPICH, _SRUN = "mpiexec of Open MPI", "mpiexec of MVAPICH", "mpiexec of MPICH", "srun"
_VARIABLES = (  # launcher, variable of the number of ranks, variable of this process's rank
    (_OPEN_MPI, "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    (_MVAPICH, "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"),
    (_MPICH, "PMI_SIZE", "PMI_RANK"),
    (_SRUN, "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
)
_LOCAL_RANKS = {
    _OPEN_MPI: "OMPI_COMM_WORLD_LOCAL_RANK",
    _MVAPICH: "MV2_COMM_WORLD_LOCAL_RANK",
    _MPICH: "MPI_LOCALRANKID",
    _SRUN: "SLURM_LOCALID",
}
_STARTED = 300  # seconds: 32 ranks need 3, thousands on a busy file system minutes
FORWARDED = 0.3  # seconds until mpiexec has forwarded output; on an abort it drops the rest
MPI_REMEDY = "pip install 'mpi_es[mpich]', or load the cluster's MPI module"


class Launch(NamedTuple):
    """How this process was started; without a launcher it is alone."""

    launcher: str = "no launcher"
    size: int = 1  # ranks
    rank: int = 0  # as the launcher counts, even if each rank is a world of its own
    variable: str = ""  # environment variable of the rank; empty without a launcher
    local_rank: int = 0  # its index among the ranks of its node, if the launcher gives it, else the rank


def find_launch(environ: Mapping[str, str]) -> Launch:
    """Return how this process was started."""
    for launcher, size, rank in _VARIABLES:
        if not environ.get(size, "").isdigit():
            continue
        if launcher is _MPICH and "MPI_LOCALNRANKS" not in environ and "SLURM_STEP_ID" in environ:
            launcher = _SRUN  # srun --mpi=pmi2 speaks the protocol of MPICH's mpiexec
        # An interactive shell in a step is one process, whatever its size, and a step may only carry an
        # mpiexec's helpers; SLURM_NTASKS is useless, since a batch script has it too.
        if size == "SLURM_STEP_NUM_TASKS":
            in_shell = "SLURM_PTY_PORT" in environ and _has_terminal()
            if in_shell or "SLURM_EXTERNAL_LAUNCHER" in environ:
                continue
        own = int(environ.get(rank, "0"))
        return Launch(launcher, int(environ[size]), own, rank, int(environ.get(_LOCAL_RANKS[launcher], own)))
    return Launch()


def _has_terminal() -> bool:
    """Return whether this process has a controlling terminal, as in a shell of srun --pty, but not in a step
    that is started from it.
    """
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY))
    except OSError:
        return False
    return True


def abort(comm: Comm | None) -> None:
    """Print the current exception and end all ranks, which would wait for this one.

    It may return before the launcher ends this process. Without a communicator it only prints.
    """
    drop_unread()
    traceback.print_exc()
    sys.stderr.flush()
    if comm is not None:
        time.sleep(FORWARDED)
        comm.Abort(1)


def library_name(mpi_library: str) -> str:
    """Return name and version from the text of MPI_Get_library_version."""
    first = mpi_library.strip().split("\n")[0].split(",")[0]
    return re.sub(r"\s*Version\s*:?\s*", " ", first)


def check(environ: Mapping[str, str], world_size: int | None, mpi_library: str) -> UserError | None:
    """Return an error if the launcher's ranks are not one world.

    Args:
        world_size: None before MPI has started, since it may abort under a wrong launcher.
        mpi_library: the text of MPI_Get_library_version.
    """
    launcher, size, *_ = find_launch(environ)
    if world_size is None:
        # MPICH built without PMIx (as the wheel is) aborts in MPI_Init, with a stack, if it finds PMIx.
        if "PMIX_NAMESPACE" not in environ or not re.match(r"MPICH(?!.*pmix)", mpi_library, re.DOTALL):
            return None
        got = "none that this MPI can join"
    elif world_size < size:
        got = "worlds of one" if world_size == 1 else str(world_size)
    else:
        return None
    ranks = "rank" if size == 1 else f"{size} ranks"
    return UserError(
        f"MPI: expected one world of the {ranks} that {launcher} started, got {got}; "
        f"mpi4py loaded {library_name(mpi_library)}: {_remedy(launcher, mpi_library)}; "
        "`python -m mpi_es.doctor` shows more"
    )


def _remedy(launcher: str, mpi_library: str) -> str:
    """Return how to start ranks with this library."""
    own = Path(sys.prefix, "bin", "mpiexec")
    wheel = own.exists() and "Open MPI" not in mpi_library  # the mpich wheel includes an mpiexec
    mpiexec = str(own) if wheel else "the mpiexec that belongs to it"
    if launcher is not _SRUN:
        return f"start it with {mpiexec}"
    protocol = "pmix" if "Open MPI" in mpi_library else "pmi2"
    return f"start it with srun --mpi={protocol}, or with {mpiexec}"


def connect(environ: Mapping[str, str]) -> Comm:
    """Start MPI and return the world communicator. Collective. Call it in an entry module's main().

    Without a launcher and without an MPI library it is a SerialComm.

    If the launcher does not fit, its first rank raises UserError. The others, which may each be rank 0 of a
    world of one, exit with 0: if they failed, the launcher might end the first before it has printed.
    """
    # If it was closed: an error that cannot be printed would leave the other ranks waiting.
    if sys.stderr is None:
        sys.stderr = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # mpi4py's own warnings about wrong launchers
            return _start(environ)
    except UserError as error:
        launch = find_launch(environ)
        place = launch.local_rank if isinstance(error, NoRoom) else launch.rank
        if place == 0:
            raise
        sys.exit(0)


@contextmanager
def _patient() -> Iterator[None]:
    """End this process, and print its stack, if MPI does not start, for instance since a rank died."""
    faulthandler.dump_traceback_later(_STARTED, exit=True)  # MPI_Init holds the GIL
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def _start(environ: Mapping[str, str]) -> Comm:
    """Return the world, or raise what check returns before and after MPI_Init. Collective."""
    try:
        import mpi4py

        # MPI_Finalize may wait for dead ranks.
        mpi4py.rc.initialize, mpi4py.rc.finalize = False, not survivable()
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        if not find_launch(environ).variable:
            return SerialComm()
        reason = " ".join(str(error).split())
        raise UserError(
            f"MPI: expected a library that mpi4py can load, got none; {MPI_REMEDY} ({reason})"
        ) from error
    library = MPI.Get_library_version()
    if MPI.Is_finalized():
        raise UserError("MPI: expected a library that runs, got one that MPI.Finalize() has ended")
    if not MPI.Is_initialized():
        if find_launch(environ).launcher is _MPICH:  # a Slurm step around mpiexec has set this
            os.environ.pop("PMIX_NAMESPACE", None)
        if complaint := check(environ, None, library):
            raise complaint
        if library.startswith("MPICH") and (complaint := shared_memory.check(environ)):
            raise complaint
        launcher_watch.start(find_launch(environ).variable)
        with _patient() if survivable() else nullcontext():
            MPI.Init_thread(MPI.THREAD_MULTIPLE)  # the level that mpi4py itself requests
        keep_hang_up()
    if complaint := check(environ, MPI.COMM_WORLD.size, library):
        raise complaint
    return MPI.COMM_WORLD
