import re

import pytest

from mpi_es.config import command_line, tables
from mpi_es.config.presets import PRESETS
from mpi_es.config.run import Config


def test_every_option_is_in_the_table():
    rows = re.findall(r"^\| `--([\w-]+)`", tables.options_table(Config), re.MULTILINE)
    assert [name.replace("-", "_") for name in rows] == list(Config.__dataclass_fields__)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_the_options_that_it_stands_for(name):
    assert command_line.parse(tables.as_options(PRESETS[name]), Config(), {}, "test") == PRESETS[name]
