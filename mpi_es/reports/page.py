"""A report as one self-contained HTML page: figures, configs, scores and commands."""

import base64
import shlex
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from html import escape

from mpi_es.config.fields import option
from mpi_es.config.run import Config
from mpi_es.config.tables import as_options
from mpi_es.reports.curves import Curves, said, words
from mpi_es.run_file import checkpoint
from mpi_es.run_file.scores import interval
from mpi_es.text import number, thousands

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1c2126; background: #fff }
body { max-width: 68rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.6rem } h2 { font-size: 1.2rem; margin-top: 2.5rem }
h1, h2 { font-weight: 600 } p { max-width: 44rem }
table { border-collapse: collapse; margin: 1rem 0 }
th, td { text-align: left; vertical-align: top; padding: .25rem 1.2rem .25rem 0 }
th, td { border-bottom: 1px solid #dde1e5 }
th { font-weight: 600 } .number { text-align: right; font-variant-numeric: tabular-nums }
img { width: 100%; height: auto; margin: .5rem 0 }
pre { background: #f3f5f7; padding: .7rem 1rem; overflow-x: auto; white-space: pre-wrap }
.warning { color: #a33a00 }
"""


_BEST = """Best is the mean of the search with the highest mean return over held-out episodes; the 95&nbsp;%
interval is in brackets. This score chose the mean: use <code>--seeds fresh</code> for an unbiased one."""
_LINES = """Several seeds of one config: the strong line is their median, the band is their range, up to the
end of the shortest run; the pale lines are the single runs."""


def page(runs: Sequence[Curves], shared: Mapping[str, bytes], own: Sequence[Mapping[str, bytes]]) -> str:
    """Return the page.

    Args:
        shared: figures of all runs, as png by what they show.
        own: the figures of each run.
    """
    title = f"Run {_name(runs[0])}" if len(runs) == 1 else f"{len(runs)} runs"
    parts = [f"<h1>{escape(title)}</h1>", f"<p>As of {datetime.now():%Y-%m-%d %H:%M}</p>", _scores(runs)]
    parts += [*_figures(shared), f"<p>{_LINES}</p>" if len(runs) > 1 else ""]
    for run, figures in zip(runs, own, strict=True):
        parts += _section(run, figures)
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style>'
    body = "\n".join(parts)
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'


def _scores(runs: Sequence[Curves]) -> str:
    """Return a table with a row for each run: its progress and its best mean."""
    spoken = words(runs)
    best, episodes = spoken.best.capitalize(), spoken.episodes.capitalize()
    titles = ("Run", best, "of generation", "Generations", episodes, "Wall time")
    rows = []
    for run in runs:
        generations, count, seconds = (run.axes[axis][-1] for axis in run.axes)
        done = f"{generations:.0f} of {run.config.max_iter}"
        time = f"{seconds / 3600:.2f} h" if seconds >= 3600 else f"{seconds / 60:.1f} min"
        rows.append([_name(run), *_best(run), done, thousands(count), time])
    sampled = any(len(held.returns) > 1 for run in runs for held in run.evaluations)
    return f"{_table(titles, rows, numbers=range(1, 6))}{f'<p>{_BEST}</p>' if sampled else ''}"


def _best(run: Curves) -> tuple[str, str]:
    """Return score and generation of the best mean."""
    best = run.content["best"]
    found = [held.returns for held in run.evaluations if held.generation == best["generation"]]
    if best["candidate"].size and run.config.function and not (found and len(found[-1]) > 1):
        return number(run.factor * float(best["fitness"])), f"{best['generation']}"
    if not found or not best["candidate"].size:
        return "not evaluated yet", ""
    returns = run.factor * found[-1]
    low, high = interval(returns)
    return f"{returns.mean():.2f} [{low:.2f}, {high:.2f}] (n = {len(returns)})", f"{best['generation']}"


def _section(run: Curves, figures: Mapping[str, bytes]) -> list[str]:
    """Return the section of one run."""
    default, config = Config(), replace(run.config, run_dir="")
    differing = [
        (option(name), said(value), said(getattr(default, name)))
        for name, value in checkpoint.to_plain(config).items()
        if value != getattr(default, name)
    ]
    warning = [f'<p class="warning">{escape(run.warning)}</p>'] if run.warning else []
    return [
        f"<h2>{escape(_name(run))}</h2>",
        *warning,
        *_figures(figures),
        "<p>Options that differ from the defaults:</p>",
        _table(("Option", "Value", "Default"), differing),
        *_commands(run, config),
        "<details><summary>Versions of the libraries; others may round differently</summary>",
        _table(("Library", "Version"), run.content["libraries"].items()),
        "</details>",
    ]


def _commands(run: Curves, config: Config) -> list[str]:
    """Return the commands that repeat and evaluate a run; none where a script began it."""
    commands = [["train", *as_options(config)], ["evaluate", str(run.directory)]]
    if config.function:
        del commands[1]
    if config.is_of_script:
        return []
    lines = [escape(shlex.join(["python", "-m", f"mpi_es.{name}", *rest])) for name, *rest in commands]
    text = "The same run again, on any number of ranks" + ("" if config.function else ", and its score")
    return [f"<p>{text}:</p>", "<pre>" + "\n".join(lines) + "</pre>"]


def _figures(figures: Mapping[str, bytes]) -> list[str]:
    return [
        f'<img alt="{escape(text)}" src="data:image/png;base64,{base64.b64encode(png).decode()}">'
        for text, png in figures.items()
    ]


def _table(titles: Sequence[str], rows: Iterable[Iterable[str]], numbers: Container[int] = ()) -> str:
    """Return a table; the columns `numbers` are aligned to the right."""
    kinds = [' class="number"' if i in numbers else "" for i in range(len(titles))]
    lines = ["".join(f"<th{kind}>{escape(title)}</th>" for kind, title in zip(kinds, titles, strict=True))]
    for row in rows:
        lines.append("".join(f"<td{kind}>{escape(cell)}</td>" for kind, cell in zip(kinds, row, strict=True)))
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def _name(run: Curves) -> str:
    return str(run.directory)
