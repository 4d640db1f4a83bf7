import dataclasses

import gymnasium as gym
import numpy as np
import pytest

from mpi_es import envs
from mpi_es.config.run import configured
from mpi_es.errors import UserError
from mpi_es.evaluation import build
from mpi_es.evaluation.env_rollout import EnvRollout
from mpi_es.evaluation.rollout import Episode, EpisodeRules
from mpi_es.evaluation.sources import StaticSource
from mpi_es.film import record
from mpi_es.film.record import Recorder

CARTPOLE = configured(env="CartPole-v1", hidden=(4,))
RACING = configured(env="mpi_es/CarRacing-v3", policy="attention", hidden=(16,))


def weights(policy, scale=0.5):
    return scale * np.random.default_rng(3).standard_normal(policy.dim).astype(np.float32)


def recorded(config, rules=EpisodeRules()):  # noqa: B008  (it is frozen)
    """Return the steps of a recorded episode, and its policy and weights."""
    policy, steps = build.make_policy(config), []
    parameters = weights(policy)
    last = Recorder(config, policy).record(Episode(0, 0, 7, parameters), rules, steps.append)
    assert last is steps[-1]
    return steps, policy, parameters


def test_a_recorded_episode_is_the_evaluated_one():
    rules = EpisodeRules(normalisation=np.array([[0.1, 0, 0.02, 0], [2, 1, 3, 1]], np.float32))
    steps, policy, parameters = recorded(CARTPOLE, rules)
    rollout = EnvRollout(policy, envs.open_batch(CARTPOLE.env), 1)
    ((_, total, length),) = rollout.run(StaticSource([Episode(0, 0, 7, parameters)]), rules)
    assert (steps[-1].score, steps[-1].number, len(steps)) == (total, length, length)


def test_a_step_shows_what_was_there_before_it():
    steps, _, _ = recorded(CARTPOLE, EpisodeRules(cap=4))
    env = gym.make("CartPole-v1", render_mode="rgb_array")
    observation = env.reset(seed=7)[0]
    for number, step in enumerate(steps, 1):
        assert (step.number, step.attention) == (number, None)
        assert step.observation.tolist() == observation.tolist()
        assert np.array_equal(step.picture, env.render())
        observation, reward, *_ = env.step(step.action)
        assert step.reward == reward
    env.close()


def test_each_step_of_an_action_is_shown_with_what_the_policy_saw_before_it():
    steps, *_ = recorded(dataclasses.replace(CARTPOLE, action_repeat=2), EpisodeRules(cap=5))
    env = gym.make("CartPole-v1", render_mode="rgb_array")
    observation = seen = env.reset(seed=7)[0]
    for number, step in enumerate(steps, 1):
        seen = observation if number % 2 else seen
        assert (step.number, step.observation.tolist()) == (number, seen.tolist())
        assert np.array_equal(step.picture, env.render())
        observation, *_ = env.step(step.action)
    assert len(steps) == 5
    env.close()


def test_the_attention_is_that_of_the_observation():
    steps, policy, parameters = recorded(RACING, EpisodeRules(cap=3))
    memory, packed = policy.initial_memory(1), policy.unpack(parameters[None])
    for step in steps:
        actions, memory = policy.act(packed, step.observation[None], memory)
        assert step.action.tolist() == actions[0].tolist()
        assert step.attention.importance.tolist() == policy.scratch.importance.tolist()
        assert step.attention.chosen.tolist() == policy.scratch.chosen.tolist()
    assert steps[0].attention.importance.sum() == pytest.approx(529)  # each patch gives 1
    assert steps[0].picture.shape == (400, 600, 3)


@pytest.mark.parametrize(
    ("env", "reason"),
    [
        ("mpi_es/CyclicMDP-v0", "got 'mpi_es/CyclicMDP-v0'"),
        ("tests.envs.user_envs:make", r"make\(render_mode='rgb_array'\)"),
        ("tests.envs.user_envs:make_blind", "got 'tests.envs.user_envs:make_blind'"),
    ],
)
def test_an_environment_that_cannot_be_drawn_is_refused(env, reason):
    with pytest.raises(
        UserError, match=f"^--video and --frames: expected an environment.*{reason}"
    ) as caught:
        record.make_env(dataclasses.replace(CARTPOLE, env=env))
    assert "\n" not in str(caught.value)


def test_a_drawing_that_fails_is_reported_in_one_line():
    with pytest.raises(UserError, match=r"render, got 'OSError: no graphics card'$"):
        recorded(dataclasses.replace(CARTPOLE, env="tests.envs.user_envs:make_screenless"))
