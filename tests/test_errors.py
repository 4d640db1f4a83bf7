import pytest

from mpi_es.errors import unknown

MANY = [f"name-{letter}" for letter in "abcdefghij"]
LIST = f"one of {', '.join(MANY)}"


@pytest.mark.parametrize(
    ("got", "choices", "text"),
    [
        ("mpl", ["rnn", "mlp"], "--x: expected one of mlp, rnn, got 'mpl'; did you mean 'mlp'?"),
        ("q", ["rnn", "mlp"], "--x: expected one of mlp, rnn, got 'q'"),
        (
            "nam-c",
            MANY,
            f"--x: expected one of 10 names, got 'nam-c'; did you mean 'name-c'? (one of {', '.join(MANY)})",
        ),
        ("q", MANY, f"--x: expected one of 10 names, got 'q'; use one of {', '.join(MANY)}"),
    ],
)
def test_the_near_miss_comes_before_a_long_list(got, choices, text):
    assert str(unknown("--x", got, choices)) == text
