"""--help: examples and the options by groups, one screen; --help GROUP: a group's options, a screen each."""

import shlex
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mpi_es.config.fields import option
from mpi_es.config.groups import Group, groups, summary
from mpi_es.config.parts import Declared, declared
from mpi_es.config.tables import as_words, default_of, help_of, values_of
from mpi_es.errors import unknown

WIDTH = 80  # columns
FLAGS = ("--help", "-h")
Example = tuple[str, str]  # a command, and what it does


@dataclass(frozen=True)
class Page:
    """What --help prints of a program."""

    usage: str
    config: Any
    preset: str  # with which the config begins; empty without one
    presets: Mapping[str, Any]
    extra: str
    examples: Sequence[Example]

    def text(self, topic: str) -> str:
        """Return the help on a topic; without one, the overview."""
        found, known = groups(self.config), declared(self.config)
        if not topic:
            return self._overview(found)
        if topic == "all":
            return "\n".join(self._group(group) for group in found)
        if topic == "presets" and self.presets:
            return self._presets()
        for group in found:
            if topic == group.name:
                return self._group(group)
        for one in known.values():
            if f"--{topic}" in one.names:
                return self._option(one)
        topics = ["all", *(["presets"] if self.presets else []), *(group.name for group in found)]
        raise unknown("--help", topic, topics)

    def _overview(self, found: Sequence[Group]) -> str:
        parts = [f"usage: {self.usage}", _filled(summary(type(self.config)))]
        if self.examples:
            parts.append("\n".join(f"  {command}\n      {meaning}" for command, meaning in self.examples))
        if self.extra:
            parts.append(_filled(self.extra))
        if len(found) == 1:
            return "\n\n".join([*parts, self._group(found[0]).rstrip()]) + "\n"
        topics = "--help GROUP shows a group's options, --help all shows all"
        parts.append(f"{topics}, --help presets the presets." if self.presets else f"{topics}.")
        parts.append("\n".join(self._names(group) for group in found))
        return "\n\n".join(parts) + "\n"

    def _names(self, group: Group) -> str:
        """Return a group with the names of its options."""
        names = " ".join(map(option, group.fields))
        return _filled(f"{group.name:10s} {names}", 11)

    def _group(self, group: Group) -> str:
        title = f"{group.title}\n" if group.title else ""
        known = declared(self.config)
        return title + "".join(self._option(known[name]) for name in group.fields)

    def _option(self, one: Declared) -> str:
        """Return an option's names, values, default and meaning."""
        value, default = (default_of(each).replace("`", "") for each in (one.value, one.default))
        shown = f"{default}; {self.preset}: {value}" if self.preset and value != default else value
        head = _filled(f"  {', '.join(one.names)}  {values_of(one.hint)}  (default: {shown})", 6)
        return f"{head}\n{_filled('      ' + help_of(one), 6)}\n"

    def _presets(self) -> str:
        """Return the presets, each with the command line that it stands for."""
        return "".join(
            f"{name}\n{_filled('    ' + shlex.join(as_words(values)), 4)}\n"
            for name, values in self.presets.items()
        )


def topic_of(words: Sequence[str]) -> str | None:
    """Return what help is asked for, None if none is: the word after --help, if it is no option."""
    place = next((place for place, word in enumerate(words) if word in FLAGS), None)
    if place is None:
        return None
    after = words[place + 1 : place + 2]
    return after[0] if after and not after[0].startswith("-") else ""


def _filled(text: str, indent: int = 0) -> str:
    """Return a text in lines of a screen's width, all but the first indented."""
    return textwrap.fill(
        text, WIDTH, subsequent_indent=" " * indent, break_on_hyphens=False, break_long_words=False
    )
