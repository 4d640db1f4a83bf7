import numpy as np
import pytest
from gymnasium.wrappers import RescaleAction

from mpi_es import envs
from mpi_es.config.run import configured
from mpi_es.evaluation.build import make_policy, make_rollout
from mpi_es.evaluation.compiled.episode import play_of
from mpi_es.evaluation.rollout import Episode, EpisodeRules

CAR = configured(env="mpi_es/CarRacing-v3", policy="attention", hidden=(16,))
POLE = configured(env="mpi_es/CartPole-v1", hidden=(5,))


@pytest.fixture(scope="module")
def car():
    return make_rollout(CAR)


def played(rollout, *seeds, rules=EpisodeRules(cap=40)):  # noqa: B008  (it is frozen)
    """Return a thread's batch of episodes of one network."""
    parameters = np.random.default_rng(0).normal(0, 0.2, rollout.policy.dim).astype(np.float32)
    thread = rollout.threads[0]
    thread.episodes = [Episode(i, 0, seed, parameters) for i, seed in enumerate(seeds)]
    rollout._run(thread, rules)
    return thread.batch, parameters


def test_outputs_become_actions_as_in_gymnasium_s_wrapper(car):
    env, scale = envs.make("mpi_es/CarRacing-v3")[0], car.threads[0].driver.scale
    wrapper = RescaleAction(env, np.float32(-1), np.float32(1))
    for output in np.random.default_rng(0).uniform(-1, 1, (20, 3)).astype(np.float32):
        ours = np.clip(output * scale[0] + scale[1], scale[2], scale[3])
        np.testing.assert_allclose(ours, wrapper.action(output), atol=1e-6)


@pytest.mark.parametrize("config", [CAR, POLE])
def test_an_episode_is_that_of_environment_and_policy_step_by_step(config):
    rollout, policy, env = make_rollout(config), make_policy(config), envs.make(config.env)[0]
    batch, parameters = played(rollout, 31, 32)
    for i, seed in enumerate((31, 32)):
        (seen, _), memory, total, step, over = env.reset(seed=seed), policy.initial_memory(1), 0.0, 0, False
        while step < 40 and not over:
            actions, memory = policy.act(policy.unpack(parameters[None]), seen[None], memory)
            seen, reward, over, *_ = env.step(actions[0])
            total, step = total + reward, step + 1
        assert (batch.totals[i], batch.lengths[i]) == (total, step)


def test_an_episode_that_is_abandoned_ends_before_its_next_step(car):
    car.threads[0].driver.abandon[0] = 1
    batch, _ = played(car, 31)
    car.threads[0].driver.abandon[0] = 0
    assert (batch.totals[0], batch.lengths[0]) == (0.0, 0)


def test_worlds_of_other_options_share_their_machine_code():
    policy, choose = make_policy(POLE), None
    worlds = [
        envs.make("mpi_es/CartPole-v1", options)[0].world for options in ([], ["sutton_barto_reward=True"])
    ]
    assert play_of(worlds[0], policy, choose) is play_of(worlds[1], policy, choose)
