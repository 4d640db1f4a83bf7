"""What holds for every member: what the population sets is what the learner trains with."""

from dataclasses import replace

import numpy as np
import pytest

from mpi_es.errors import RolloutError, UserError
from mpi_es.parallel.collectives import SerialComm
from mpi_es.parallel.stop_signal import StopFlag
from pbt.config import Config
from pbt.explore import check_in_effect
from pbt.members import MEMBERS, find, space
from pbt.members.sb3 import settings
from tests.pbt.runs import WALKERS, run

NET = "policy_kwargs={'net_arch': [8]}"
ON = Config("sb3", member_options=("n_steps=32", NET), steps=32, num_agents=2)
PPO = replace(ON, member_options=(*ON.member_options, "batch_size=32"), obs_norm=True, reward_norm=True)
OFF = ("learning_starts=16", "buffer_size=90", "batch_size=8", NET)
CONFIGS = {
    "toy": Config("toy"),
    "es": Config("es", member_options=("hidden=4",), steps=1, tune=("sigma", "learning_rate", "pairs=4:9")),
    "sb3 PPO": PPO,
    "sb3 A2C": replace(ON, algorithm="A2C"),
    "sb3 DQN": replace(ON, algorithm="DQN", member_options=OFF),
    "sb3 SAC": replace(ON, algorithm="SAC", env="Pendulum-v1", member_options=OFF),
    "sb3 TD3": replace(ON, algorithm="TD3", env="Pendulum-v1", member_options=OFF, num_envs=2),
}


def test_every_member_has_a_config_here():
    assert {name.split()[0] for name in CONFIGS} == MEMBERS.keys()


def made(config, index=0):
    return find(config)(config, index, SerialComm(), StopFlag())


@pytest.mark.parametrize("name", CONFIGS)
def test_what_is_set_is_in_effect_after_a_training_a_copy_and_a_restore(name):
    config = CONFIGS[name]
    one, other, tuned, rng = made(config), made(config, 1), space(config), np.random.default_rng(1)
    for generation in (1, 2, 3):
        values = {each.name: each.sample(rng) for each in tuned}
        one.generation, one.hyperparameters = generation, dict(values)
        one.train(config.steps)
        check_in_effect(values, one.in_effect())
        other.adopt(one.get_state())  # a copy trains on next, then a restored member does
        one, other = other, one
        if generation == 2:
            one.set_state(one.get_state())


def test_a_member_that_lacks_a_method_is_refused():
    with pytest.raises(UserError, match=r"--member: expected a class that defines declared, get_state"):
        find(Config("pbt:Member"))


class Forgetful:
    """Replaces a setter of sb3 by one that sets the attribute of the model alone."""

    def __init__(self, name):
        self.name = name

    def __call__(self, model, name, value):
        setattr(model, self.name, value)


@pytest.mark.parametrize(
    ("name", "key", "setter"),
    [
        ("sb3 PPO", "learning_rate", Forgetful("learning_rate")),
        ("sb3 PPO", "gamma", Forgetful("gamma")),  # not the buffer's nor the normaliser's
        ("sb3 PPO", "clip_range", lambda *_: None),
        ("sb3 PPO", "n_epochs", lambda *_: None),
        ("sb3 DQN", "exploration", Forgetful("exploration_rate")),
    ],
)
def test_a_value_that_the_learner_does_not_get_ends_the_run(monkeypatch, name, key, setter):
    monkeypatch.setitem(settings._SETTERS, key, setter)
    config = replace(CONFIGS[name], max_iter=1, num_rollouts=1, num_eval_rollouts=1, tune=(key,))
    with pytest.raises(RolloutError, match=rf"member 0: {key}: expected \S+ in the learner.*, got \S+"):
        run(config)


def test_a_member_that_forgets_a_hyperparameter_ends_the_run():
    """As the populations did that set an attribute which no optimiser reads."""
    with pytest.raises(RolloutError, match=r"member 0: rate: expected 0\.\d+ in the learner.*, got 0\.5$"):
        run(Config(WALKERS + "Forgetting", max_iter=2))


def test_a_member_that_does_not_tell_a_hyperparameter_is_refused():
    with pytest.raises(RolloutError, match=r"member 0: kind: expected \d\.0 in the learner.*, got None$"):
        run(Config(WALKERS + "Silent", max_iter=2))
