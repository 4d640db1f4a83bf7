import gymnasium as gym
import numpy as np
import pytest

from mpi_es.envs.car_racing.options import DISCRETE, action_space, checked, observation_space
from mpi_es.errors import UserError

DEFAULTS = {
    "picture": "close",
    "variant": "plain",
    "lap_complete_percent": 0.95,
    "domain_randomize": False,
    "continuous": True,
    "grass_cost": 0.0,
}


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
def test_an_error_names_the_keyword(option, value, rule):
    words = f"{option}: expected {rule}, got {value!r}"
    with pytest.raises(UserError) as raised:
        checked(**DEFAULTS | {option: value})
    assert str(raised.value).startswith(words)
    with pytest.raises(UserError) as raised:
        gym.make("mpi_es/CarRacing-v3", **{option: value})
    assert str(raised.value).startswith(words)


def test_choices_are_the_arguments_of_a_simulation():
    assert checked(**DEFAULTS) == ("close", "plain", 0.95, False, 0.0)


def test_spaces_are_gymnasium_s():
    for continuous in (True, False):
        theirs = gym.make("CarRacing-v3", continuous=continuous)
        assert action_space(continuous) == theirs.action_space
        assert observation_space() == theirs.observation_space
    assert observation_space(4).shape == (4, 96, 96, 3)
    assert np.shape(DISCRETE) == (theirs.action_space.n, 3)
