"""python -m pbt.export RUN --out FILE: the best member of a run in Stable-Baselines3's format."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mpi_es.config import command_line
from mpi_es.errors import UserError, expected
from mpi_es.parallel.collective_errors import on_root
from mpi_es.parallel.collectives import Comm, SerialComm
from mpi_es.parallel.entry_point import launch
from mpi_es.parallel.stop_signal import StopFlag
from pbt.config import Config
from pbt.record import load
from pbt.schema import set_state


@dataclass(frozen=True)
class Options:
    """Write the best member of a run of sb3 members into files that Stable-Baselines3 loads by itself."""

    out: str = ""
    """zip file for the model, required; if anything is normalised, a .pkl next to it for VecNormalize"""
    imports: bool = True
    """Import code that the file of the run names; --no-imports: refuse such a file"""


def main(comm: Comm, arguments: list[str]) -> int:
    """Write the files on rank 0, and return the exit code. Collective."""
    on_root(comm, lambda: export(arguments))
    return 0


def export(arguments: list[str]) -> None:
    """Write the files that the arguments name, and print their paths."""
    run, options = command_line.parse_run(arguments, Options(), "python -m pbt.export")
    if Path(options.out).suffix != ".zip":
        raise expected("--out", "a file that ends in .zip", options.out)
    config, content = load(run, allow_imports=options.imports)
    if config.member != "sb3":
        hint = "mpi_es.load_run(RUN)['best']['state'] is the state of the best member"
        raise expected("RUN", "a run of sb3 members", config.member, hint)
    if not content["best"]["state"]:
        raise UserError(f"{run}: no held-out evaluation is done yet")
    write(Path(options.out), config, content["best"])


def write(path: Path, config: Config, best: dict[str, Any]) -> None:
    """Write the member in /best of a run file."""
    from pbt.members.sb3 import settings  # torch, which --help does not need
    from pbt.members.sb3.member import SB3

    agent = SB3(config, int(best["member"]), SerialComm(), StopFlag())
    set_state(agent, best["state"])
    agent.hyperparameters = {name: float(value) for name, value in best["hyperparameters"].items()}
    settings.unbind(agent.model)
    try:
        agent.model.save(path, exclude=settings.SCHEDULES)
        print(path)
        if agent.normalizer is not None:
            agent.normalizer.save(path.with_suffix(".pkl"))
            print(path.with_suffix(".pkl"))
    except OSError as error:
        raise UserError(f"--out: cannot write {path} ({error.strerror})") from error


if __name__ == "__main__":
    launch(main)
