"""python -m mpi_es.export RUN: write a run's policy as an npz file of parameters, or as TorchScript.

RUN may also be an npz file with an agent, to change the order of its parameters or to write TorchScript.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mpi_es.agents import load
from mpi_es.agents.agent import Agent
from mpi_es.config import command_line
from mpi_es.config.presets import PRESETS, preset
from mpi_es.config.run import Layout
from mpi_es.errors import UserError, expected, unknown
from mpi_es.parallel.collective_errors import on_root
from mpi_es.parallel.collectives import Comm
from mpi_es.parallel.entry_point import launch
from mpi_es.run_file import checkpoint
from mpi_es.text import counted


@dataclass(frozen=True)
class Options:
    """Write the policy of a run into files."""

    candidate: Literal["best", "last"] = "best"
    """The centre with the best held-out evaluation, or the last one"""
    out: str = ""
    """npz file for parameters, config, order and normalisation; this or --torchscript is required"""
    layout: Layout = "torch"
    """Order of the parameters: torch's, or the paper's, which sorts the names in each layer"""
    torchscript: str = ""
    """File for the network as TorchScript, with the normalisation of its observations"""
    preset: str = "carracing"
    """Preset with which RUN was trained, if it is an npz file without a config"""
    from_layout: Layout = "torch"
    """Order of the parameters in such a file"""
    imports: bool = True
    """Import code that the file of the run names; --no-imports: refuse such a file"""

    def __post_init__(self) -> None:
        """Refuse an unknown preset."""
        if self.preset not in PRESETS:
            raise unknown("--preset", self.preset, PRESETS)


def main(comm: Comm, arguments: list[str]) -> int:
    """Write the files on rank 0, and return the exit code. Collective."""
    on_root(comm, lambda: export(arguments))
    return 0


def export(arguments: list[str]) -> None:
    """Write the files that the arguments name."""
    run, options = command_line.parse_run(arguments, Options(), "python -m mpi_es.export")
    if not (options.out or options.torchscript):
        raise UserError("--out: expected a file, or --torchscript FILE, got nothing")
    if not options.out:
        command_line.refuse_unused(arguments, ("layout",), "--torchscript alone", Options)
    load.check_there(run, "RUN")
    if os.path.basename(run) == checkpoint.NAME:
        run = str(checkpoint.directory_of(Path(run)))
    _refuse_clashes(run, options)
    if load.is_run(Path(run)):
        command_line.refuse_unused(arguments, ("preset", "from_layout"), "a run", Options)
        place = load.Place(allow_imports=options.imports)
        agent = load.of_run(load.content_of(Path(run)), options.candidate, run, place)
    else:
        command_line.refuse_unused(arguments, ("candidate",), "an npz file", Options)
        agent = _of_file(run, options, arguments)
    if options.out:
        agent.write_weights(Path(options.out), options.layout, "--out")
        print(f"{counted(len(agent.parameters), 'parameter')} in {options.layout}'s order: {options.out}")
    if options.torchscript:
        agent.write_script(Path(options.torchscript), "--torchscript")
        print(f"TorchScript: {options.torchscript}")


def _refuse_clashes(run: str, options: Options) -> None:
    """Refuse to overwrite the input, or one output with the other."""
    places = [run, *(os.path.join(run, name) for name in (checkpoint.NAME, checkpoint.PREVIOUS))]
    taken = {os.path.realpath(place): "RUN's" for place in places}
    for option, name in (("--out", options.out), ("--torchscript", options.torchscript)):
        place = os.path.realpath(name)
        if name and place in taken:
            raise expected(option, f"a file other than {taken[place]}", name)
        taken[place] = f"that of {option}"


def _of_file(name: str, options: Options, arguments: list[str]) -> Agent:
    """Return the agent in an npz file."""
    bare = preset(options.preset, layout=options.from_layout)
    agent = load.load(name, bare, "RUN", load.Place(allow_imports=options.imports))
    if agent.described:
        command_line.refuse_unused(
            arguments, ("preset", "from_layout"), "a file that describes its agent", Options
        )
    return agent


if __name__ == "__main__":
    launch(main)
