from dataclasses import dataclass

import pytest

from mpi_es.config.groups import Group, groups
from mpi_es.config.parts import declared
from mpi_es.config.run import Config
from pbt.config import Config as PopulationConfig


@pytest.mark.parametrize("cls", [Config, PopulationConfig])
def test_every_option_is_in_one_group_whose_name_is_its_own(cls):
    found = groups(cls)
    assert [name for group in found for name in group.fields] == list(declared(cls))
    assert len({group.name for group in found}) == len(found)
    assert not {"a", "the", "all", "presets", ""} & {group.name for group in found}


@dataclass(frozen=True)
class Plain:
    size: int = 1
    """Of it."""
    length: int = 2
    """Of that."""


def test_a_config_without_comments_is_one_group_without_a_title():
    assert groups(Plain) == [Group("", ("size", "length"))]
