import math

import pytest

from mpi_es.text import clock, counted, number, thousands


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0:00:00"), (59.6, "0:01:00"), (3725, "1:02:05"), (90061, "1d 1:01:01")]
)
def test_clock(seconds, text):
    assert clock(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (math.nan, "-"),
        (475.3126, "475.3"),
        (-8.4761, "-8.476"),
        (81233.4, "81,233"),
        (1234.4, "1,234"),
        (9999.6, "10,000"),
        (5.12e8, "5.12e+08"),
    ],
)
def test_number(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(1, "1 rank"), (0, "0 ranks"), (4 / 3, "1.33 ranks"), (1000000, "1,000,000 ranks")]
)
def test_counted(value, text):
    assert counted(value, "rank") == text


@pytest.mark.parametrize(("value", "text"), [(999, "999"), (1234567, "1,234,567"), (2500.5, "2,500.5")])
def test_thousands_are_parted_by_commas(value, text):
    assert thousands(value) == text
