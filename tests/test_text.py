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
    ("written", "text"),
    [
        (duration(725, 9), "12 min"),  # in little room it has one unit
        (duration(86399, 9), "23 h"),
        (duration(9e4, 9), "1 d 1 h"),
        (duration(3e11, 9), "3.47e6 d"),
        (compact(math.nan, 7), "-"),
        (compact(475.3126, 7), "475.3"),
        (compact(1234567.8, 7), "1.235e6"),
        (compact(-1234567.8, 7), "-1.23e6"),
        (compact(-0.05123, 7), "-0.0512"),
        (compact(1.234e-15, 7), "1.2e-15"),
        (compact(-1e300, 7), "-1e+300"),
        (compact(math.inf, 7), "inf"),
        (number(math.nan), "-"),
        (number(475.3126), "475.3"),
        (number(-8.4761), "-8.476"),
        (number(81233.4), "81,233"),
        (number(1234.4), "1,234"),
        (number(9999.6), "10,000"),
        (number(5.12e8), "5.12e+08"),
        (counted(1, "rank"), "1 rank"),
        (counted(0, "rank"), "0 ranks"),
        (counted(4 / 3, "rank"), "1.33 ranks"),
        (counted(1000000, "rank"), "1,000,000 ranks"),
        (thousands(999), "999"),
        (thousands(1234567), "1,234,567"),
        (thousands(2500.5), "2,500.5"),
    ],
)
def test_numbers_are_short_and_parted_by_commas(written, text):
    assert written == text
