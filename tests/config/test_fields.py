import math
from dataclasses import dataclass
from typing import Annotated

import pytest

from mpi_es.config.fields import Free, Range, check_ranges, option
from mpi_es.config.parts import changeable, declared
from mpi_es.config.run import Config
from mpi_es.errors import UserError

RANGES = [
    (Range(1), "≥ 1", [1, 5, 1e300], [0, -1, 0.99]),
    (Range(0, with_low=False), "> 0", [1e-300, 3], [0, -1]),
    (Range(0, 1), "in [0, 1]", [0, 0.5, 1], [-0.1, 1.1]),
    (Range(0, 1, with_low=False), "in (0, 1]", [0.1, 1], [0, 2]),
    (Range(-math.inf), "", [-1e300, 0, 1], []),
    (Range(0, 1, with_high=False), "in [0, 1)", [0, 0.99], [1]),
]


@pytest.mark.parametrize(("rule", "text", "inside", "outside"), RANGES)
def test_a_range_says_what_it_holds(rule, text, inside, outside):
    assert str(rule) == text
    assert all(rule.holds(value) for value in inside)
    assert not any(rule.holds(value) for value in [*outside, math.nan, math.inf, -math.inf])


@dataclass(frozen=True)
class Small:
    free: Free[int] = 1
    ranged: Annotated[Free[float], Range(0)] = 1.0
    fixed: Annotated[int, Range(0)] = 1


def test_changeable_are_the_fields_that_say_so():
    assert changeable(Small) == {"free", "ranged"}


def test_an_option_has_its_own_name_and_its_aliases():
    assert option("num_rollouts") == "--num-rollouts"
    assert declared(Small)["fixed"].names == ["--fixed"]
    assert {"--population-size", "--popsize"} <= set(declared(Config)["population_size"].names)


def test_a_number_outside_its_range_is_refused():
    check_ranges(Small())
    with pytest.raises(UserError, match="--ranged: expected a number ≥ 0"):
        check_ranges(Small(ranged=-1.0))
