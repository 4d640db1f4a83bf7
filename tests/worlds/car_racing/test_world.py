from functools import partial

import gymnasium as gym
import numpy as np
import pytest

from mpi_es.errors import UserError
from mpi_es.worlds.car_racing.world import DISCRETE, CarRacing
from tests.worlds.car_racing.reference import ours


@pytest.mark.parametrize(
    ("option", "value", "rule"),
    [
        ("picture", "blurred", "one of close, exact"),
        ("variant", "rain", "one of bars, blob, color, plain"),
        ("lap_complete_percent", "most", "a number"),
        ("grass_cost", None, "a number"),
        ("domain_randomize", "no", "True or False"),
        ("continuous", 2, "True or False"),
    ],
)
def test_an_error_names_the_keyword_and_on_the_command_line_its_option(option, value, rule):
    words = f"{option}: expected {rule}, got {value!r}"
    for make in (CarRacing, partial(gym.make, "mpi_es/CarRacing-v3")):
        with pytest.raises(UserError) as raised:
            make(**{option: value})
        assert str(raised.value).startswith(words)
    with pytest.raises(UserError, match=rf"--env-options.*{option}: expected {rule}"):
        ours(f"{option}={value!r}")


def test_an_option_that_is_none_is_told_and_one_may_be_in_lower_case():
    with pytest.raises(UserError, match=r"--env-options.*gravity"):
        ours("gravity=3")
    assert ours("continuous=false").discrete


def test_spaces_are_gymnasium_s():
    for continuous in (True, False):
        mine, theirs = CarRacing(continuous=continuous), gym.make("CarRacing-v3", continuous=continuous)
        assert mine.action_space == theirs.action_space
        assert mine.observation_space == theirs.observation_space
    assert np.shape(DISCRETE) == (theirs.action_space.n, 3)
