import pytest

from mpi_es.config.run import Config
from mpi_es.evaluation.build import make_rollout
from mpi_es.train import endless

OWN = "tests.envs.user_envs:"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"env": "CartPole-v1"}, False),
        ({"env": OWN + "Endless"}, True),
        ({"env": OWN + "Endless", "episode_cap": 9}, False),
        ({"env": OWN + "make"}, False),  # a TimeLimit of gym.make
        ({"env": OWN + "make_capped"}, False),  # one within another wrapper
        ({"env": OWN + "make_specified"}, False),
        ({"env": OWN + "make_unwrapped"}, True),  # its spec has the limit of the wrapper that is gone
    ],
)
def test_an_environment_without_a_step_limit_is_reported(options, told):
    config = Config(**options, hidden=(4,))
    warning = endless(config, make_rollout(config))
    assert bool(warning) == told
    assert warning.endswith("--episode-cap N gives it one") == told
