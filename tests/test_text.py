import pytest

from mpi_es.text import counted, thousands


@pytest.mark.parametrize(("value", "text"), [(999, "999"), (1234567, "1,234,567"), (2500.5, "2,500.5")])
def test_thousands_are_parted_by_commas(value, text):
    assert thousands(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(1, "1 core"), (1.5, "1.5 cores"), (4 / 3, "1.33 cores"), (1000000, "1,000,000 cores")],
)
def test_a_count_agrees_with_its_noun(value, text):
    assert counted(value, "core") == text
