"""python docs/tables.py: write the tables of options and presets into the pages that have them."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mpi_es.config import presets, run
from mpi_es.config.declared import Declared, groups, shown
from mpi_es.config.fields import CHANGEABLE, option
from mpi_es.config.parts import declared, kinds, parts_of, stands_for
from mpi_es.config.user_objects import load
from pbt import config as pbt_config
from pbt import presets as pbt_presets

PAGES = [Path(__file__).parent / "reference" / name for name in ("options.md", "presets.md")]


def tables() -> dict[str, str]:
    """Return the tables in Markdown by the names of their markers."""
    return {
        "options": options_tables(run.Config),
        "presets": presets_table(run.Config, presets.PRESETS),
        "pbt options": options_tables(pbt_config.Config),
        "pbt presets": presets_table(pbt_config.Config, pbt_presets.PRESETS),
    }


def options_tables(cls: type) -> str:
    """Return a table for each group of a config's options, and one for each strategy and policy."""
    common, own = declared(cls), []
    for part, named in kinds(cls).items():
        shared = set.intersection(*map(set, named.values()))
        of_user = {"package.module:Class": declared(load(option(part), parts_of(cls)[part].own))}
        for name, options in (named | of_user).items():
            common = {key: one for key, one in common.items() if key in shared or key not in options}
            rest = [one for key, one in options.items() if key not in shared]
            own += [(f"`{option(part)} {name}`", rest)] if rest else []
    known = [(group.title, options) for group, options in groups(common.values()).items()]
    return "\n".join(f"### {title}\n\n{options_table(options)}" for title, options in [*known, *own])


def options_table(options: Iterable[Declared]) -> str:
    """Return a row for each option, which also says whether a resumed run may change it."""
    rows = [
        (
            ", ".join(f"`{name}`" for name in one.names),
            one.help,
            one.values,
            text if (text := shown(one.default)) in ("on", "off", "empty") else f"`{text}`",
            "may change" if CHANGEABLE in one.marks else "fixed",
        )
        for one in options
    ]
    return markdown(("Option", "Meaning", "Values", "Default", "With `--resume`"), rows)


def presets_table(cls: type, named: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a row for each preset: its name and the options that it stands for."""
    rows = []
    for name, values in named.items():
        own, others = stands_for(cls, values)
        more = f"; for strategies that have them `{others}`" if others else ""
        rows.append((f"`{name}`", f"`{own}`{more}"))
    return markdown(("Preset", "Stands for"), rows)


def markdown(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table."""
    lines = [titles, ["---"] * len(titles), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n" for row in lines)


def written(page: str) -> str:
    """Return a page with the tables between those of their markers that it has."""
    for name, table in tables().items():
        head, begin, rest = page.partition(f"<!-- {name}: ")
        if begin:
            marker, _, old = rest.partition("-->\n")
            page = f"{head}{begin}{marker}-->\n\n{table}\n{old[old.index(f'<!-- end of {name} -->') :]}"
    return page


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(written(path.read_text(encoding="utf-8")), encoding="utf-8")
