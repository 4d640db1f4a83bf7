from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import pytest

from mpi_es.config.fields import Range, check_ranges
from mpi_es.errors import UserError
from mpi_es.run_file import checkpoint, description
from tests.run_file import bases


@dataclass(frozen=True)
class Options:
    """Options of each type."""

    count: Annotated[int, Range(1)] = 1
    rate: float = 0.1
    flag: bool = False
    name: str = ""
    way: Literal["left", "right"] = "left"
    goal: float | None = None
    widths: tuple[int, ...] = ()
    words: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_ranges(self)


@pytest.mark.parametrize(
    ("stored", "read"),
    [
        ({}, Options()),
        ({"count": 3, "rate": 2, "flag": True, "name": "ö"}, Options(3, 2.0, True, "ö")),
        ({"way": "right", "goal": None}, Options(way="right")),
        ({"goal": 3}, Options(goal=3.0)),
        ({"widths": np.array([4, 5]), "words": np.zeros(0)}, Options(widths=(4, 5))),
        ({"widths": [4], "words": np.array(["a=1"], object)}, Options(widths=(4,), words=("a=1",))),
    ],
)
def test_a_config_is_read_in_the_types_of_its_fields(stored, read):
    assert description.config_of(Options, stored) == read


def test_a_config_with_thousands_of_numbers_survives(tmp_path):
    config = Options(widths=tuple(range(9000)), words=("a=1",))
    checkpoint.save(tmp_path, {"config": config})
    assert description.config_of(Options, bases.read(tmp_path)["config"]) == config


@pytest.mark.parametrize(
    ("stored", "why"),
    [
        (None, "expected a group of options, got none"),
        ({"colour": 1}, "expected fields of Options, got 'colour'"),
        ({"count": 1.0}, "--count: expected whole number ≥ 1, got 1.0"),
        ({"count": True}, "--count: expected whole number ≥ 1, got True"),
        ({"count": 0}, "--count: expected a number ≥ 1, got 0"),
        ({"rate": "fast"}, "--rate: expected number, got 'fast'"),
        ({"flag": 1}, "--flag: expected true or false, got 1"),
        ({"name": np.zeros(2)}, r"--name: expected text, got \[0.0, 0.0\]"),
        ({"name": "\x1b[2J"}, r"--name: expected a text without control characters, got '\\x1b\[2J'"),
        ({"way": "up"}, "--way: expected one of left, right, got 'up'"),
        ({"goal": {}}, "--goal: expected number or None, got {}"),
        ({"goal": 10**400}, "--goal: expected number or None, got 'int'"),
        ({"widths": 3}, "--widths: expected whole numbers, or nothing, got 3"),
        ({"widths": np.array([0.5])}, "--widths: expected whole numbers, or nothing"),
        ({"widths": np.zeros((2, 2))}, "--widths: expected whole numbers, or nothing"),
        ({"words": np.array(["\x00"], object)}, "--words: expected a text without control characters"),
    ],
)
def test_a_config_that_the_command_line_would_refuse_is_refused(stored, why):
    with pytest.raises(UserError, match=f"^{why}"):
        description.config_of(Options, stored)
