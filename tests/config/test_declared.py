from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import pytest

from mpi_es.config.declared import groups, shown
from mpi_es.config.fields import Alias, Free, Group, Range
from mpi_es.config.parts import declared
from mpi_es.errors import UserError


@dataclass(frozen=True)
class Base:
    """Do something; not this."""

    size: Annotated[Free[int], Range(1), Alias("--n")] = 3
    """Of it."""
    widths: tuple[int, ...] = ()
    """Of its layers."""


@dataclass(frozen=True)
class Small(Base):
    """Do something."""

    limit: Annotated[float | None, Range(0), Group("Limits, of all")] = None
    """Of that."""
    quick: bool = True
    """Whether at once."""
    kind: Literal["one", "another"] = "one"
    """Which."""


ALL = declared(Small)


def test_an_option_says_its_names_values_default_and_meaning():
    assert [(one.names, one.values, shown(one.default), one.help) for one in ALL.values()] == [
        (["--size", "--n"], "whole number ≥ 1", "3", "Of it."),
        (["--widths"], "whole numbers, or nothing", "empty", "Of its layers."),
        (["--limit"], "number or None", "None", "Of that."),
        (["--quick"], "flag", "on", "Whether at once."),
        (["--kind"], "one, another", "one", "Which."),
    ]


@dataclass(frozen=True)
class Odd:
    """Do something."""

    place: Path = Path("here")


def test_an_option_of_a_type_that_no_option_has_is_refused():
    one = declared(Odd)["place"]
    assert (one.values, one.help) == ("Path", "")
    with pytest.raises(UserError, match="--place: expected Path, got 'there'"):
        one.of_words(["there"], "--place")


def test_a_group_goes_from_its_first_field_to_the_next_group():
    found = {group: [one.name for one in options] for group, options in groups(ALL.values()).items()}
    assert found == {Group(""): ["size", "widths"], Group("Limits, of all"): ["limit", "quick", "kind"]}
    assert Group("Limits, of all").name == "limits"
