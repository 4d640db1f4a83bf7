import pytest

from mpi_es.config import command_line
from mpi_es.config.parts import as_options
from pbt.config import Config
from pbt.presets import PRESETS, preset


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_the_options_that_it_stands_for(name):
    assert command_line.parse(as_options(preset(name)), Config(), {}, "test") == preset(name)
