import numpy as np
import pytest
from gymnasium.wrappers import RescaleAction

from mpi_es import envs
from mpi_es.config.run import configured
from mpi_es.envs.car_racing import simulation
from mpi_es.evaluation.build import make_policy
from mpi_es.evaluation.compiled_episode import UNCLIPPED, Rules, allocate, run_episode
from mpi_es.policies.attention_compiled.kernel import network

RULES = Rules(limit=40, repeat=1, early_stop=0, clip=UNCLIPPED)
CONFIG = configured(env="mpi_es/CarRacing-v3", policy="attention", hidden=(16,))


@pytest.fixture(scope="module")
def parts():
    """A simulation, a driver, weights of an agent, its policy and its parameters."""
    policy, env = make_policy(CONFIG), envs.make("mpi_es/CarRacing-v3")[0]
    parameters = np.random.default_rng(0).normal(0, 0.2, (1, policy.dim)).astype(np.float32)
    weights = network(policy.unpack(parameters), 0)
    return simulation.allocate(), allocate(policy, env.action_space), weights, policy, parameters


def test_outputs_become_actions_as_in_gymnasium_s_wrapper(parts):
    env, scale = envs.make("mpi_es/CarRacing-v3")[0], parts[1].scale
    wrapper = RescaleAction(env, np.float32(-1), np.float32(1))
    for output in np.random.default_rng(0).uniform(-1, 1, (20, 3)).astype(np.float32):
        ours = np.clip(output * scale[0] + scale[1], scale[2], scale[3])
        np.testing.assert_allclose(ours, wrapper.action(output), atol=1e-6)


def test_an_episode_is_that_of_environment_and_policy_step_by_step(parts):
    race, driver, weights, policy, parameters = parts
    env, total = envs.make("mpi_es/CarRacing-v3")[0], 0.0
    (seen, _), memory = env.reset(seed=31), policy.initial_memory(1)
    for _ in range(40):
        actions, memory = policy.act(policy.unpack(parameters), seen[None], memory)
        seen, reward, *_ = env.step(actions[0])
        total += reward
    assert run_episode(race, driver, weights, 31, RULES) == (total, 40)
    np.testing.assert_array_equal(race.picture, seen)


def test_an_episode_that_is_abandoned_ends_before_its_next_step(parts):
    race, driver, weights, *_ = parts
    driver.abandon[0] = 1
    assert run_episode(race, driver, weights, 31, RULES) == (0.0, 0)
    driver.abandon[0] = 0
