"""The directories of a script's runs: new ones, and those of a job of slurm/function.sh."""

import itertools
import os

from mpi_es.config.run import Config
from mpi_es.errors import UserError
from mpi_es.run_file.checkpoint import NOWHERE
from mpi_es.run_file.training_plan import numbered
from mpi_es.train import Plan

RUNS = "MPI_ES_RUNS"  # the variable in which slurm/function.sh passes the directory of a job's runs
LIST = ".runs"  # the file there that lists the directories of the job's runs, one per line
CALLS: dict[str, int] = {}  # number of runs so far, by directory without a number


def new_directory(config: Config) -> str:
    """Return a directory for a run that the script does not name.

    In a job of slurm/function.sh it is the same when the job is requeued; elsewhere it is a new one.
    """
    if RUNS in os.environ:
        stem = os.path.join(os.environ[RUNS], os.path.basename(config.directory))
        CALLS[stem] = CALLS.get(stem, 0) + 1
        return numbered(stem, CALLS[stem])
    numbers = itertools.count(1)
    return next(name for n in numbers if _is_made(name := numbered(config.directory, n)))


def list_for_job(plan: Plan) -> None:
    """Append the run's directory to the list of a job of slurm/function.sh; duplicates do no harm."""
    if RUNS in os.environ and plan.directory != NOWHERE:
        path = os.path.join(os.environ[RUNS], LIST)
        try:
            with open(path, "a", encoding="utf-8") as runs:
                print(os.path.abspath(plan.directory), file=runs)
        except OSError as error:
            raise UserError(f"{RUNS}: cannot write {path} ({error.strerror})") from error


def _is_made(directory: str) -> bool:
    """Make a directory; return false if it exists, since another script may have made it just now."""
    try:
        os.makedirs(directory)
    except FileExistsError:
        return False
    except OSError as error:
        raise UserError(f"--run-dir: cannot create {directory} ({error.strerror})") from error
    return True
