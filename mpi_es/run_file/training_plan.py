"""Rank 0's plan of a training from the command line: of a new run, or of one that is resumed."""

import contextlib
import dataclasses
import itertools
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from mpi_es.arrays import Candidate
from mpi_es.config import command_line, config_file
from mpi_es.config.config_file import ConfigFile
from mpi_es.config.parts import flat
from mpi_es.errors import UserError, warn
from mpi_es.run_file import checkpoint, description, imports, schema
from mpi_es.run_file.atomic_write import write_whole
from mpi_es.run_file.lock import Lock, locked
from mpi_es.run_file.run_status import is_finished


class TrainingConfig(Protocol):
    """A program's config: a dataclass with a field run_dir and the directory of its run."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    @property
    def directory(self) -> str:
        """The directory of the run."""
        ...


C = TypeVar("C", bound=TrainingConfig)
# Options that say when a run ends.
_ENDS = (
    "callback",
    "max_iter",
    "max_evaluations",
    "target_fitness",
    "target_consecutive",
    "tolx",
    "tolfun",
)


@dataclass(frozen=True)
class TrainingPlan(Generic[C]):
    """The config of a run, and the content of run.h5 if the run is resumed."""

    program: str  # mpi_es.train or pbt.train
    config: C
    directory: Path
    fingerprint: bytes  # of the directory, before anything was read
    stored: dict[str, Any] | None = None  # the content of run.h5
    warning: str = ""  # why stored is the previous checkpoint
    has_new_options: bool = True  # whether they differ from those that the run began with
    has_new_end: bool = True  # whether those do that may end it
    base: Candidate | None = None  # a whole agent of which a part evolves
    start: Any = None  # the agent at which the strategy begins
    given: Sequence[str] = ()  # the arguments, and the options of their file

    @property
    def is_finished(self) -> bool:
        """Whether run.h5 says that nothing is left to do."""
        return is_finished(self.stored, self.warning)

    @contextlib.contextmanager
    def locked_directory(self) -> Iterator[Lock | None]:
        """Create the directory, hold its lock inside the block, and set a damaged run.h5 aside.

        The options of a new run, or of one resumed with other options, are written there too. A run that
        writes no files has no lock.
        """
        if self.directory == checkpoint.NOWHERE:
            yield None
            return
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"--run-dir: cannot create {self.directory} ({error.strerror})") from error
        with locked(self.directory) as lock:
            if checkpoint.fingerprint(self.directory) != self.fingerprint:
                raise UserError(f"{self.directory}: another job has saved a run here since this one started")
            if self.warning:
                warn(self.warning)
                checkpoint.set_aside(self.directory)
            if self.has_new_options:
                self._write_options()
            yield lock

    def _write_options(self) -> None:
        """Write config.toml into the directory."""
        path = self.directory / config_file.NAME
        head = ["The options of this run. To repeat it in another directory:"]
        head.append(f"python -m {self.program} --config {shlex.quote(str(path))} --run-dir DIRECTORY")
        if getattr(self.config, "is_of_script", False):
            head = ["The options of this run, which a script started."]
        write_whole(path, config_file.text(self.config, head).encode(errors="replace"), "--run-dir")


def plan_training(
    program: str,
    kind: type[C],
    arguments: Sequence[str],
    parse: Callable[[list[str]], C],
    file: ConfigFile = command_line.NO_FILE,
    check: checkpoint.Check = schema.check,
    *,
    allow_imports: bool = True,
) -> TrainingPlan[C]:
    """Return the plan; raise UserError for a mistake in the arguments or in the run's directory.

    `--resume RUN` resumes the run in that directory. `--continue` resumes the run in the config's directory,
    or begins it if the directory holds none. A run for which no directory is named gets a new one.

    Args:
        program: mpi_es.train or pbt.train.
        kind: the class of its config.
        parse: returns the config of a new run from the other arguments.
        file: options for a resumed run.
        check: raises Unfit for content that the program does not write.
        allow_imports: whether to import code that the file names.
    """
    resume_if_begun, words = command_line.take_flag(arguments, "--continue")
    run, rest = command_line.take_option(words, "--resume")
    if run is not None:
        usage = f"python -m {program} --resume RUN"
        directory = checkpoint.directory_of(Path(run))

        def changed(begun: C, imported: bool) -> C:
            options = file.without("run_dir")  # where the run began; it may have been moved
            wanted = command_line.parse(rest, begun, {}, usage, file=options, imports=imported)
            if not imported:
                before, after = flat(begun), flat(wanted)
                fields = [name for name in imports.TRAINING if before.get(name) == after.get(name)]
                imports.check(begun, directory, allowed=allow_imports, fields=fields)
            return wanted

        return _resumed(program, kind, directory, changed, check)
    config = parse(rest)
    named = "run_dir" in file.values or command_line.is_given(rest, "run_dir", kind)
    if not (named or resume_if_begun) and (other := unused(config.directory)) != config.directory:
        config = dataclasses.replace(config, run_dir=other)
    return plan_run(program, kind, config, resume_if_begun=resume_if_begun, check=check)


def unused(directory: str) -> str:
    """Return a directory that holds no run, numbered if need be."""
    numbers = itertools.count(1)
    return next(name for n in numbers if not checkpoint.exists(Path(name := numbered(directory, n))))


def numbered(directory: str, number: int) -> str:
    """Return the name of a directory for the run of this number among runs of one name."""
    return directory if number == 1 else f"{directory}-{number}"


def plan_run(
    program: str,
    kind: type[C],
    config: C,
    *,
    resume_if_begun: bool,
    check: checkpoint.Check = schema.check,
) -> TrainingPlan[C]:
    """Return the plan of a run in the config's directory, which may hold it already.

    Args:
        resume_if_begun: whether to resume a run that is there; else refuse it.
        check: raises Unfit for content that the program does not write.
    """
    directory = Path(config.directory)
    fingerprint = checkpoint.fingerprint(directory)
    if not checkpoint.exists(directory):
        return TrainingPlan(program, config, directory, fingerprint)
    if not resume_if_begun:
        raise UserError(
            f"--run-dir: {directory} holds a run already; choose another directory, or continue it with "
            f"{resuming(program, directory)}"
        )
    wanted = dataclasses.replace(config, run_dir=str(directory))
    return _resumed(program, kind, directory, lambda *_: wanted, check)


def resuming(program: str, directory: Path) -> str:
    """Return the command that continues a run."""
    return shlex.join(["python", "-m", program, "--resume", str(directory)])


def _resumed(
    program: str, kind: type[C], directory: Path, changed: Callable[[C, bool], C], check: checkpoint.Check
) -> TrainingPlan[C]:
    """Return the plan of resuming a run.

    Args:
        changed: returns the wanted config, given the one with which the run began and whether its code may be
            imported. It is called first without importing, to check the names.
    """
    fingerprint = checkpoint.fingerprint(directory)
    stored, warning = checkpoint.load_of(program, directory, check)
    begun = description.config_of(kind, stored["config"])
    if flat(changed(begun, False)).get("strategy") == stored["config"].get("strategy"):
        begun = description.config_of(kind, stored["config"], imports=True)
    begun = dataclasses.replace(begun, run_dir=str(directory))  # it may have been moved
    wanted = changed(begun, True)
    command_line.check_resumed(begun, wanted)
    before, after = flat(begun), flat(wanted)
    new_end = any(before.get(name) != after.get(name) for name in _ENDS)
    return TrainingPlan(program, wanted, directory, fingerprint, stored, warning, wanted != begun, new_end)
