"""The groups of a config's fields: each is the comment line before its first field."""

import ast
import inspect
from dataclasses import dataclass
from typing import Any

from mpi_es.config.parts import declared


@dataclass(frozen=True)
class Group:
    """Fields of a config that belong together."""

    title: str
    fields: tuple[str, ...]

    @property
    def name(self) -> str:
        """What --help is given to show it: the title's first word."""
        return self.title.split()[0].strip(",:").lower()


def summary(cls: type) -> str:
    """Return the first line of a config's docstring, from its source: under -OO Python keeps none."""
    body = ast.parse(inspect.getsource(cls)).body[0]
    assert isinstance(body, ast.ClassDef)
    return (ast.get_docstring(body) or "").partition("\n")[0]


def groups(config: Any) -> list[Group]:
    """Return the groups of a config's options, those of a part behind its name.

    A group without a title has the fields before the first comment.
    """
    cls = config if isinstance(config, type) else type(config)
    source = inspect.getsource(cls)
    lines, body = source.splitlines(), ast.parse(source).body[0]
    assert isinstance(body, ast.ClassDef)
    found: dict[str, list[str]] = {}
    title, end = "", body.lineno
    for node in body.body:
        comments = [line.strip() for line in lines[end : node.lineno - 1] if line.strip().startswith("# ")]
        title = comments[0].removeprefix("# ") if comments else title
        end = node.end_lineno or end
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.setdefault(title, []).append(node.target.id)
    names = list(declared(config))
    starts = {name: names.index(name) for known in found.values() for name in known}
    ends = dict(zip(starts.values(), [*list(starts.values())[1:], len(names)], strict=True))
    return [
        Group(title, tuple(one for name in known for one in names[starts[name] : ends[starts[name]]]))
        for title, known in found.items()
    ]
