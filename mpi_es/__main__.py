"""mpi-es COMMAND, or python -m mpi_es COMMAND: all commands under one name;
only the chosen one is imported.
"""

import os
import runpy
import sys
from dataclasses import dataclass

from mpi_es import __version__


@dataclass(frozen=True)
class Command:
    """A module that runs as a program, and where its words for tab completion are defined."""

    module: str
    line: str  # what it does
    options: str = ""  # package.module:Class, the dataclass of its options
    more: tuple[str, ...] = ()  # options that are not fields of that class
    presets: str = ""  # package.module:NAME, the choices of its first argument


_TRAINING = ("--resume", "--continue", "--config", "--no-imports")
# Modules are named as text: mpi_es does not import pbt, and listing the commands imports nothing.
COMMANDS = {
    "train": Command(
        "mpi_es.train",
        "evolve a policy or optimise a function; under mpiexec, on all ranks",
        "mpi_es.config.run:Config",
        (*_TRAINING, "--verbose"),
        "mpi_es.config.presets:PRESETS",
    ),
    "evaluate": Command(
        "mpi_es.evaluate",
        "score a run's policy on held-out episodes, and record one",
        "mpi_es.evaluate:Options",
    ),
    "report": Command(
        "mpi_es.report", "draw the curves of runs, and write one HTML page", "mpi_es.report:Options"
    ),
    "export": Command("mpi_es.export", "write a run's policy as npz or TorchScript", "mpi_es.export:Options"),
    "status": Command("mpi_es.status", "print the progress of runs", more=("--finished", "--generations")),
    "doctor": Command(
        "mpi_es.doctor",
        "check launcher, MPI, Slurm, memory, files and an environment",
        more=("--env", "--env-options", "--policy", "--policy-options", "--output"),
    ),
    "pbt train": Command(
        "pbt.train",
        "train a population whose weak members copy strong ones",
        "pbt.config:Config",
        _TRAINING,
        "pbt.presets:PRESETS",
    ),
    "pbt evaluate": Command(
        "pbt.evaluate", "score a member on held-out episodes, and record one", "pbt.evaluate:Options"
    ),
    "pbt report": Command(
        "pbt.report", "draw scores and family tree of a population, and write a page", "pbt.report:Options"
    ),
    "pbt replay": Command(
        "pbt.replay", "train one agent on the winner's schedule of hyperparameters", "pbt.replay:Options"
    ),
    "pbt export": Command(
        "pbt.export", "write the best member in the format of Stable-Baselines3", "pbt.export:Options"
    ),
    "completion": Command(
        "mpi_es.completion",
        "print a script that completes commands and options: bash, zsh or fish",
        presets="mpi_es.completion:SHELLS",
    ),
}


def main() -> int:
    """Run the command that the arguments name, or print help or an error; return the exit code."""
    words = sys.argv[1:]
    group = words[:1] if words[:1] == ["pbt"] else []
    name = words[len(group)] if len(words) > len(group) else ""
    command = COMMANDS.get(" ".join([*group, name]))
    if command:
        sys.argv = [sys.argv[0], *words[len(group) + 1 :]]
        runpy.run_module(command.module, run_name="__main__", alter_sys=True)
        return 0
    if not _is_first():
        return 0  # an exit code other than 0 could make the launcher kill the rank that prints
    if name in ("", "--help", "-h"):
        print(listing("pbt " if group else ""))
        return 0
    if name == "--version" and not group:
        print(f"mpi_es {__version__}")
        return 0
    from mpi_es.errors import unknown

    print(f"error: {unknown(' '.join([*group, 'COMMAND']), name, words_after(group))}", file=sys.stderr)
    return 2


def script() -> int:
    """Call main with the working directory on the path, as python -m has it, for a user's modules."""
    if not sys.flags.safe_path:
        sys.path.insert(0, os.getcwd())
    return main()


def words_after(words: list[str]) -> list[str]:
    """Return the words that may follow `words` in the name of a command."""
    names = [name.split() for name in COMMANDS]
    return list(dict.fromkeys(name[len(words)] for name in names if name[: len(words)] == words))


def listing(prefix: str = "") -> str:
    """Return a line for each command whose name begins with the prefix."""
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {one.line}" for name, one in COMMANDS.items() if name.startswith(prefix)]
    usage = f"usage: mpi-es {prefix}COMMAND [ARGUMENTS], or python -m mpi_es {prefix}COMMAND [ARGUMENTS]"
    return "\n".join([usage, "", *lines, "", "mpi-es COMMAND --help lists the options of a command."])


def _is_first() -> bool:
    """Return whether this process is rank 0 of its job, without starting MPI."""
    if not any(name.startswith(("OMPI_", "MV2_", "PMI_", "SLURM_")) for name in os.environ):
        return True  # no launcher; the import below would import numpy

    from mpi_es.parallel.start_mpi import find_launch

    return find_launch(os.environ).rank == 0


if __name__ == "__main__":
    sys.exit(main())
