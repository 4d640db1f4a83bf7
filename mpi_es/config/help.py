"""--help: examples and the options by groups, one screen; --help GROUP: a group's options, a screen each."""

import shlex
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, get_type_hints

from mpi_es.config.fields import names_of
from mpi_es.config.groups import Group, groups, summary
from mpi_es.config.tables import as_options, default_of, help_texts, values_of
from mpi_es.errors import unknown

WIDTH = 80  # columns
FLAGS = ("--help", "-h")
Example = tuple[str, str]  # a command, and what it does


@dataclass(frozen=True)
class Page:
    """What --help prints of a program."""

    usage: str
    config: Any
    presets: Mapping[str, Any]
    extra: str
    examples: Sequence[Example]

    def text(self, topic: str) -> str:
        """Return the help on a topic; without one, the overview."""
        found = groups(type(self.config))
        if not topic:
            return self._overview(found)
        if topic == "all":
            return "\n".join(self._group(group) for group in found)
        if topic == "presets" and self.presets:
            return self._presets()
        for group in found:
            if topic == group.name:
                return self._group(group)
        options = {known: field.name for field in fields(self.config) for known in self._names_of(field.name)}
        if f"--{topic}" in options:
            return self._option(options[f"--{topic}"])
        topics = ["all", *(["presets"] if self.presets else []), *(group.name for group in found)]
        raise unknown("--help", topic, topics)

    def _names_of(self, name: str) -> list[str]:
        """Return all names of an option."""
        return list(names_of(name, type(self.config)))

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
        names = " ".join(self._names_of(name)[0] for name in group.fields)
        return _filled(f"{group.name:10s} {names}", 11)

    def _group(self, group: Group) -> str:
        title = f"{group.title}\n" if group.title else ""
        return title + "".join(self._option(name) for name in group.fields)

    def _option(self, name: str) -> str:
        """Return an option's names, values, default and meaning."""
        cls = type(self.config)
        hint = get_type_hints(cls, include_extras=True)[name]
        default = self._default(name)
        head = _filled(f"  {', '.join(self._names_of(name))}  {values_of(hint)}  (default: {default})", 6)
        return f"{head}\n{_filled('      ' + help_texts(cls)[name], 6)}\n"

    def _default(self, name: str) -> str:
        """Return an option's default, and the preset's value where it is another one."""
        value = _value(self.config, name)
        preset = next((known for known, config in self.presets.items() if config is self.config), "")
        default = _value(type(self.config)(), name) if preset else value
        return default if default == value else f"{default}; {preset}: {value}"

    def _presets(self) -> str:
        """Return the presets, each with the command line that it stands for."""
        return "".join(
            f"{name}\n{_filled('    ' + shlex.join(as_options(config)), 4)}\n"
            for name, config in self.presets.items()
        )


def topic_of(words: Sequence[str]) -> str | None:
    """Return what help is asked for, None if none is: the word after --help, if it is no option."""
    place = next((place for place, word in enumerate(words) if word in FLAGS), None)
    if place is None:
        return None
    after = words[place + 1 : place + 2]
    return after[0] if after and not after[0].startswith("-") else ""


def _value(config: Any, name: str) -> str:
    """Return the value of an option as a terminal shows it."""
    return default_of(getattr(config, name)).replace("`", "")


def _filled(text: str, indent: int = 0) -> str:
    """Return a text in lines of a screen's width, all but the first indented."""
    return textwrap.fill(
        text, WIDTH, subsequent_indent=" " * indent, break_on_hyphens=False, break_long_words=False
    )
