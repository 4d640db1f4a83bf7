"""A fixed sample of the attacks; `make attacks` makes as many as there is time for."""

import pytest

from tests.attacks.__main__ import strike
from tests.attacks.kinds import KINDS


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A directory that the attacks share, as they share the undisturbed runs."""
    return tmp_path_factory.mktemp("attacks")


@pytest.mark.parametrize(
    ("kind", "number"), [("kill", 1), ("stop", 4), ("failing call", 3), ("shell", 7), ("small memory", 2)]
)
def test_a_run_that_was_attacked_goes_on_as_if_it_had_not_been(place, kind, number):
    if kind not in KINDS:
        pytest.skip("needs strace, or to be root")
    _, attack, wrong = strike(1, number, place, kind)
    assert not wrong, attack.story
