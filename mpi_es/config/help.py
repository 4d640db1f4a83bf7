"""--help: examples and the options by groups, one screen; --help GROUP: a group's options, a screen each."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mpi_es.config.declared import Declared, groups, shown
from mpi_es.config.fields import Group, option
from mpi_es.config.parts import declared, stands_for, suited
from mpi_es.errors import unknown

WIDTH = 80  # columns
FLAGS = ("--help", "-h")
_PRESETS = "--help PRESET shows the options of a preset. [EXTRA] needs pip install 'mpi_es[EXTRA]'."
_MINUTES = " Minutes were measured on one or two cores."
Example = tuple[str, str]  # a command, and what it does


@dataclass(frozen=True)
class Page:
    """What --help prints for a program."""

    usage: str
    config: Any
    preset: str  # on which the config is based; empty without one
    presets: Mapping[str, Mapping[str, Any]]
    minutes: Mapping[str, int]  # that presets take, where measured
    extra: str
    examples: Sequence[Example]

    def text(self, topic: str) -> str:
        """Return the help on a topic; without one, the overview."""
        known = declared(self.config)
        found = groups(known.values())
        if not topic:
            return self._overview(found)
        if topic == "all":
            return "\n".join(self._group(group, options) for group, options in found.items())
        if topic == "presets" and self.presets:
            return self._presets()
        if topic in self.presets:
            return self._preset(topic)
        for group, options in found.items():
            if topic == group.name:
                return self._group(group, options)
        for one in known.values():
            if f"--{topic}" in one.names:
                return self._option(one)
        topics = ["all", *(["presets"] if self.presets else []), *(group.name for group in found)]
        raise unknown("--help", topic, topics)

    def _overview(self, found: Mapping[Group, Sequence[Declared]]) -> str:
        purpose = (type(self.config).__doc__ or "").partition("\n")[0]
        parts = [f"usage: {self.usage}", _filled(purpose)]
        if self.examples:
            parts.append("\n".join(f"  {command}\n      {meaning}" for command, meaning in self.examples))
        if self.extra:
            parts.append(_filled(self.extra))
        if len(found) == 1:
            return "\n\n".join([*parts, *(self._group(*one).rstrip() for one in found.items())]) + "\n"
        topics = "--help GROUP shows a group's options, --help all shows all"
        parts.append(f"{topics}, --help presets the presets." if self.presets else f"{topics}.")
        names = {group: " ".join(option(one.name) for one in options) for group, options in found.items()}
        parts.append("\n".join(_filled(f"{group.name:10s} {text}", 11) for group, text in names.items()))
        return "\n\n".join(parts) + "\n"

    def _group(self, group: Group, options: Sequence[Declared]) -> str:
        title = f"{group.title}\n" if group.title else ""
        return title + "".join(map(self._option, options))

    def _option(self, one: Declared) -> str:
        """Return an option's names, values, default and meaning."""
        value, default = shown(one.value), shown(one.default)
        both = f"{default}; {self.preset}: {value}" if self.preset and value != default else value
        head = _filled(f"  {', '.join(one.names)}  {one.values}  (default: {both})", 6)
        return f"{head}\n{_filled('      ' + one.help, 6)}\n"

    def _preset(self, name: str) -> str:
        """Return the options of a preset."""
        own, others = stands_for(type(self.config), self.presets[name])
        lines = [f"{name} = {own}", *([f"for strategies that have them: {others}"] if others else [])]
        return "".join(f"{_filled(line, 4)}\n" for line in lines)

    def _presets(self) -> str:
        """Return a line for each preset: what it trains, what it needs, and how long it takes."""
        width = max(map(len, self.presets)) + 2
        lines = [_filled(_PRESETS + (_MINUTES if self.minutes else "")) + "\n"]
        for name, values in self.presets.items():
            config = suited(type(self.config), values)
            needs = [f"[{config.extra}]"] if config.extra else []
            takes = [f"{self.minutes[name]} min"] if name in self.minutes else []
            lines.append(f"{name:{width}}{', '.join([config.trained, *needs, *takes])}")
        return "\n".join(lines) + "\n"


def topic_of(words: Sequence[str]) -> str | None:
    """Return the topic of --help: the word after it, empty if an option or nothing follows;
    None without --help.
    """
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
