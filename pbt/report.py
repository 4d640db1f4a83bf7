"""python -m pbt.report RUN…: draw a population's scores and family tree, and write report.html."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mpi_es.config import command_line
from mpi_es.errors import UserError
from mpi_es.extras import needed_for
from mpi_es.parallel.collective_errors import on_root
from mpi_es.parallel.collectives import Comm
from mpi_es.parallel.entry_point import launch
from mpi_es.run_file import checkpoint
from mpi_es.run_file.atomic_write import write_whole
from pbt import lineage
from pbt.config import Config
from pbt.members import space
from pbt.record import load

NAME, PAGE = "population.png", "report.html"


@dataclass(frozen=True)
class Options:
    """Draw the scores, hyperparameters and family tree of populations, and write a page for each."""

    imports: bool = True
    """Import code that the file of the run names; --no-imports: refuse such a file"""


def main(comm: Comm, arguments: list[str]) -> int:
    """Draw, print the paths, and return the exit code. Collective: only rank 0 works."""
    on_root(comm, lambda: _report(arguments))
    return 0


def _report(arguments: list[str]) -> None:
    runs, options = command_line.parse_runs(arguments, Options(), "python -m pbt.report")
    for run in runs:
        for path in draw(checkpoint.directory_of(Path(run)), allow_imports=options.imports):
            print(path)


def draw(directory: Path, *, allow_imports: bool) -> list[Path]:
    """Write the pictures and the page of a run, and return their paths.

    Args:
        allow_imports: of code that the file names.
    """
    # matplotlib takes a second to import, and only rank 0 needs it
    with needed_for("pbt.report"):
        from mpi_es.reports.drawing import picture
        from pbt.papers import figure2
        from pbt.reports import figures
        from pbt.reports.page import page

    config, stored = load(directory, allow_imports=allow_imports)
    scales = _scales(config, stored["hyperparameters"])
    past = lineage.read(stored, list(scales))
    if not past.generations:
        raise UserError(f"{directory}: no generation is done yet")
    first = figures.scores(past, config.steps)[0]
    stacked = [first, *figures.hyperparameters(past, scales), figures.tree(past)]
    toy = figure2.panels(config.seed) if config.member == "toy" else []
    files = {NAME: picture(stacked, 1), PAGE: page(directory, config, stored, past, scales, toy).encode()}
    if toy:
        files[figure2.NAME] = picture(toy, 4)
    for name, content in files.items():
        write_whole(directory / name, content, "RUN")
    return [directory / name for name in sorted(files)]


def _scales(config: Config, names: Iterable[str]) -> dict[str, str]:
    """Return the scale of each hyperparameter; linear if the member or its environment cannot be imported."""
    try:
        known: dict[str, str] = {one.name: one.scale for one in space(config)}
    except UserError:
        known = {}
    return {name: known.get(name, "linear") for name in names}


if __name__ == "__main__":
    launch(main)
