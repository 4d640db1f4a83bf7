"""The page of a report, rendered by page.html.j2, and the sections that runs and populations share."""

import base64
import os
import re
import shlex
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from mpi_es.config.declared import shown
from mpi_es.config.fields import option
from mpi_es.config.parts import as_options, as_words, declared
from mpi_es.reports.drawing import COLOURS, Figures
from mpi_es.run_file import run_status
from mpi_es.run_file.description import own_options
from mpi_es.text import duration

_KINDS = {".mp4": "video/mp4", ".gif": "image/gif"}
# A page with films of this size can still be sent by mail. Larger ones stay files next to it.
_EMBEDDED = 5_000_000  # bytes of all films of a run
# Control characters, those that reverse the direction of text, and those that UTF-8 cannot encode.
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@dataclass(frozen=True)
class Table:
    """Rows of text, with a title above each column."""

    titles: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1  # columns that are aligned to the left; the others hold numbers
    code: bool = False  # in the font of a command line
    stack: bool = False  # on a narrow screen rows become lists; else the table scrolls there


@dataclass(frozen=True)
class Section:
    """A part of a page, which shows its fields in this order."""

    title: str = ""
    level: int = 2  # of the title
    about: Sequence[str] = ()  # lines in a muted colour
    state: Mapping[str, str] | None = None  # why a run ended, or that it is running
    warning: str = ""
    facts: Sequence[tuple[str, str, str]] = ()  # name, value, and a small note
    figures: Figures | None = None
    bar: Sequence[Mapping[str, str]] = ()
    text: str = ""
    table: Table | None = None
    note: str = ""
    commands: tuple[str, Sequence[str]] | None = None  # what they do, and the command lines
    films: Sequence[Mapping[str, Any]] = ()
    folded: Sequence[tuple[str, Sequence["Section"]]] = ()  # collapsed until the reader opens it


def render(title: str, sections: Iterable[Section]) -> str:
    """Return the page. All texts are escaped; only figures are inserted unescaped."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    text = environment.get_template("page.html.j2").render(title=title, sections=sections)
    return _UNSEEN.sub("?", text)


def as_of(directory: str = "") -> str:
    """Return the line that says when the page was written, and of which directory."""
    of = f"{directory}, " if directory else ""
    return f"{of}as of {datetime.now():%Y-%m-%d %H:%M}"


def state_for_page(content: Mapping[str, Any]) -> dict[str, str]:
    """Return a sentence that says why a run ended, or that it goes on, and its kind."""
    finished = bool(content["life"]["finished"])
    text, silence = run_status.state_of(content, time.time())
    kind = "finished" if finished else "running" if text.startswith("running") else "stopped"
    if not finished:
        text += f"; last saved {duration(max(silence, 0.0))} ago"
    return {"kind": kind, "text": text[:1].upper() + text[1:]}


def bar(shares: Mapping[str, float]) -> list[dict[str, str]]:
    """Return seconds as the parts of a bar, with a key."""
    total = sum(shares.values()) or 1.0
    return [
        {
            "percent": f"{100 * seconds / total:.2f}",
            "colour": colour,
            "text": f"{name}: {100 * seconds / total:.1f} %, {duration(seconds)}",
        }
        for (name, seconds), colour in zip(shares.items(), COLOURS, strict=False)
        if seconds > 0
    ]


def options(
    config: Any,
    content: Mapping[str, Any],
    program: str,
    commands: tuple[str, Sequence[Sequence[str]]] | None,
) -> Section:
    """Return a section: options that differ from their defaults, commands, and library versions.

    Args:
        program: the package of the commands.
        commands: their description, and those after the one that repeats the run; None: no commands.
    """
    rows = [
        (option(name), shown(one.value), shown(one.default))
        for name, one in declared(config).items()
        if name != "run_dir" and one.value != one.default
    ]
    own = own_options(config, content["config"])
    rows += [(option(name), shown(value), "") for name, value in own.items()]
    lines = None
    if commands:
        text, others = commands
        again = [["train", *as_options(replace(config, run_dir="")), *as_words(own)], *others]
        lines = text, [shlex.join(["python", "-m", f"{program}.{name}", *rest]) for name, *rest in again]
    versions = Table(("Library", "Version"), [*content["libraries"].items()], left=2)
    return Section(
        "Options and commands",
        text="Options that differ from the defaults:",
        table=Table(("Option", "Value", "Default"), rows, code=True),
        commands=lines,
        folded=[("Versions of the libraries; others may round differently", [Section(table=versions)])],
    )


def films(directory: Path, place: Path) -> list[Section]:
    """Return a section with the films in a run's directory, in a list that is empty without films.

    Args:
        place: directory of the page, from which large films are loaded.
    """
    # A hidden file is a film that is still being written, or whose writer was killed.
    found = sorted(path for path in directory.glob("[!.]*") if path.suffix in _KINDS and path.is_file())
    embedded = sum(path.stat().st_size for path in found) <= _EMBEDDED
    listed = []
    for path in found:
        kind, outside = _KINDS[path.suffix], os.path.relpath(path.resolve(), place.resolve())
        source = quote(outside)
        if embedded:
            source = f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"
        where = "" if embedded else outside
        video = kind.startswith("video")
        listed.append({"name": path.name, "source": source, "place": where, "is_video": video})
    return [Section("Videos", films=listed)] if listed else []
