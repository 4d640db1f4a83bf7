from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pytest

from mpi_es.config.fields import Range
from mpi_es.run_file import rules
from mpi_es.run_file.hdf5 import Unfit


@dataclass
class Record:
    """A group of a file."""

    number: int
    share: Annotated[float, Range(-1, 1)]
    maybe: float = float("nan")
    name: str = ""
    on: bool = False


GOOD = {"number": 3, "share": 0.5, "maybe": 1.0, "name": "ö", "on": True}


def said(**changes):
    try:
        rules.check_group(GOOD | changes, rules.of_record(Record), "/record")
    except Unfit as error:
        return str(error)
    return ""


def test_a_record_is_described_by_its_fields():
    assert said() == said(maybe=float("nan")) == ""


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"number": -1}, "number: expected a whole number of 0 or more, got -1"),
        ({"number": True}, "number: expected a whole number of 0 or more, got True"),
        ({"share": 2.0}, "share: expected a number in [-1, 1], got 2.0"),
        ({"share": float("nan")}, "share: expected a number in [-1, 1], got nan"),
        ({"maybe": "x"}, "maybe: expected a number in [-inf, inf] or NaN, got 'x'"),
        ({"name": 1}, "name: expected a text, got 1"),
        ({"on": 1}, "on: expected true or false, got 1"),
        ({"number": np.zeros(2)}, "number: expected a whole number of 0 or more, got float64 (2,)"),
        ({"more": 1}, "more: expected nothing of this name"),
    ],
)
def test_what_breaks_a_field_s_rule_is_refused(changes, why):
    assert said(**changes) == f"/record/{why}"


def test_a_field_that_depends_on_the_run_gets_its_rule_from_there():
    given = rules.of_record(Record, number=rules.count(9, 5))
    assert given["number"](4) == "a whole number from 5 to 9"
    assert given["number"](5) == ""


def test_numbers_and_counts_are_no_truth_values():
    number, count = rules.number(), rules.count()
    assert number(1.5) == count(0) == ""
    assert all(map(number, (True, "1", None, float("nan"))))
    assert all(map(count, (True, 1.0, -1, 2**63)))
