"""python -m pbt.export RUN --out FILE: the best member of a run as Stable-Baselines3 saves its own agents."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mpi_es.config import command_line
from mpi_es.errors import UserError, expected, warn
from mpi_es.parallel.collectives import Comm, SerialComm, on_root
from mpi_es.parallel.program import launch
from mpi_es.parallel.stop_signal import StopFlag
from mpi_es.run_file import checkpoint
from pbt.config import Config


@dataclass(frozen=True)
class Options:
    """Write the best member of a run of sb3 members into files that Stable-Baselines3 loads without us."""

    out: str = ""
    """zip file for the model; where observations or rewards are normalised, FILE.pkl gets the VecNormalize"""


def main(comm: Comm, arguments: list[str]) -> int:
    """Write the files on rank 0, and return the exit code. Collective."""
    on_root(comm, lambda: export(arguments))
    return 0


def export(arguments: list[str]) -> None:
    """Write what the arguments ask for, and print the paths."""
    run, options = command_line.parse_run(arguments, Options(), "python -m pbt.export")
    if Path(options.out).suffix != ".zip":
        raise expected("--out", "a file that ends in .zip", options.out)
    content, warning = checkpoint.load_of("pbt.train", Path(run))
    if warning:
        warn(warning)
    config = checkpoint.from_plain(Config, content["config"])
    if config.member != "sb3":
        raise expected("RUN", "a run of sb3 members", config.member)
    if not content["best"]["state"]:
        raise UserError(f"{run}: expected a held-out evaluation, got none yet")
    write(Path(options.out), config, content["best"])


def write(path: Path, config: Config, best: dict[str, Any]) -> None:
    """Write the member that a run file holds as its best."""
    from pbt.members.sb3 import settings  # torch, which --help does without
    from pbt.members.sb3.member import SB3

    agent = SB3(config, int(best["member"]), SerialComm(), StopFlag())
    agent.set_state(best["state"])
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
