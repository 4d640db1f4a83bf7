"""python -m mpi_es.report RUN…: plots of runs, finished or running, and one page, report.html."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mpi_es.config import command_line
from mpi_es.errors import UserError, expected, warn
from mpi_es.extras import needed_for
from mpi_es.parallel.collective_errors import on_root
from mpi_es.parallel.collectives import Comm
from mpi_es.parallel.entry_point import launch
from mpi_es.reports import curves
from mpi_es.reports.curves import Curves
from mpi_es.run_file import checkpoint
from mpi_es.run_file.atomic_write import write_whole


@dataclass(frozen=True)
class Options:
    """Draw the curves of runs, and compare several runs."""

    out: str = ""
    """Directory of the report; empty: the directory of the run, if there is only one"""


def main(comm: Comm, arguments: list[str]) -> int:
    """Draw on rank 0, print the paths, and return the exit code. Collective."""
    on_root(comm, lambda: report(arguments))
    return 0


def report(arguments: list[str]) -> None:
    """Write the report that the arguments ask for, and print its paths."""
    names, options = command_line.parse_runs(arguments, Options(), "python -m mpi_es.report")
    directories = list(dict.fromkeys(map(Path, names)))
    if len(directories) > 1 and not options.out:
        raise expected("--out", "a directory for the report of several runs", options.out)
    runs = loaded(directories)
    place = Path(options.out or runs[0].directory)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"--out: cannot write {error.filename or place} ({error.strerror})") from error
    write(place, runs)


def loaded(directories: Sequence[Path]) -> list[Curves]:
    """Return the runs that can be drawn, and print warnings; raise if none can."""
    runs: list[Curves] = []
    complaints = []
    for directory in directories:
        try:
            found = checkpoint.directory_of(directory)
            if found in [run.directory for run in runs]:
                continue
            runs.append(curves.load(found))
        except UserError as error:
            complaints.append(error)
        else:
            if runs[-1].warning:
                warn(runs[-1].warning)
    if not runs:
        raise complaints[0]
    for complaint in complaints:
        warn(f"left out: {complaint}")
    return runs


def write(place: Path, runs: Sequence[Curves]) -> None:
    """Write the figures and the page into a directory, and print their paths."""
    # matplotlib takes a second to import, and only rank 0 needs it
    with needed_for("mpi_es.report"):
        from mpi_es.reports import figures
        from mpi_es.reports.drawing import picture
        from mpi_es.reports.runs import page

    groups = curves.grouped(runs)
    pictures = {}
    if len(runs) > 1:
        rows = figures.comparison(groups)
        pictures["comparison"] = [panel for row in rows.values() for panel in row]
    pictures["search"] = figures.search(groups)
    pictures |= {_file(run, runs): figures.learning(run) for run in runs}
    for name, panels in pictures.items():
        path = place / f"{name}.png"
        write_whole(path, picture(panels, 2 if len(panels) == 4 else len(curves.AXES)), "--out")
        print(path)
    path = place / "report.html"
    write_whole(path, page(runs, place).encode(), "--out")
    print(path)


def _file(run: Curves, runs: Sequence[Curves]) -> str:
    """Return the name of a run's figure: that of its directory, with a number if others have the same."""
    if len(runs) == 1:
        return "learning"
    names = [other.directory.resolve().name for other in runs]
    name = run.directory.resolve().name
    return f"learning-{name}" if names.count(name) == 1 else f"learning-{name}-{list(runs).index(run) + 1}"


if __name__ == "__main__":
    launch(main)
