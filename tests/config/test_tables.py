import re
from dataclasses import dataclass
from typing import Annotated

import pytest

from mpi_es.config import command_line, tables
from mpi_es.config.fields import Free, Range
from mpi_es.config.parts import every
from mpi_es.config.presets import PRESETS, preset
from mpi_es.config.run import Config, configured
from mpi_es.errors import UserError


def test_every_option_is_in_the_table():
    rows = re.findall(r"^\| `--([\w-]+)`", tables.options_table(Config), re.MULTILINE)
    assert {name.replace("-", "_") for name in rows} == {one.name for one in every(Config)}


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_the_options_that_it_stands_for(name):
    assert command_line.parse(tables.as_options(preset(name)), configured(), {}, "test") == preset(name)


@dataclass(frozen=True)
class Small:
    """Do something."""

    ALWAYS_GIVEN = ("size",)
    size: Annotated[Free[int], Range(1)] = 3
    """How much | of it."""
    quick: bool = True
    """Whether at once."""


def test_a_table_has_values_default_help_and_whether_it_may_change():
    assert tables.options_table(Small).splitlines()[2:] == [
        r"| `--size` | whole number ≥ 1 | `3` | How much \| of it. | may change |",
        "| `--quick` | flag | on | Whether at once. | fixed |",
    ]
    assert tables.as_options(Small(quick=False)) == ["--size", "3", "--no-quick"]


def test_a_document_gets_the_tables_between_its_markers_or_is_refused(tmp_path):
    path = tmp_path / "page.md"
    path.write_text("a\n<!-- small: made -->\nold\n<!-- end of small -->\nb\n")
    tables.main([str(path)], {"small": "| new |\n"})
    assert path.read_text() == "a\n<!-- small: made -->\n\n| new |\n\n<!-- end of small -->\nb\n"
    with pytest.raises(UserError, match="FILE: expected a line <!-- NAME: … -->, where NAME is one of other"):
        tables.replaced(path.read_text(), {"other": ""})
