import math

import pytest

from mpi_es.text import compact, counted, duration, number, thousands


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.107, "0.11 s"),
        (3.25, "3.2 s"),
        (9.97, "10 s"),
        (59.4, "59 s"),
        (59.6, "1 min 00 s"),
        (725, "12 min 05 s"),
        (7500, "2 h 05 min"),
        (86399, "23 h 59 min"),
        (97200, "1 d 3 h"),
        (1e8, "1,157 d 9 h"),
    ],
)
def test_a_duration_has_two_units(seconds, text):
    assert duration(seconds) == text
    assert len(text) <= 11


@pytest.mark.parametrize(
    ("seconds", "text"), [(725, "12 min"), (86399, "23 h"), (9e4, "1 d 1 h"), (3e11, "3.47e6 d")]
)
def test_a_duration_in_little_room_has_one_unit(seconds, text):
    assert duration(seconds, 9) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (math.nan, "-"),
        (475.3126, "475.3"),
        (1234567.8, "1.235e6"),
        (-1234567.8, "-1.23e6"),
        (-0.05123, "-0.0512"),
        (1.234e-15, "1.2e-15"),
        (-1e300, "-1e+300"),
        (math.inf, "inf"),
    ],
)
def test_a_compact_number_keeps_to_a_width(value, text):
    assert compact(value, 7) == text


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
