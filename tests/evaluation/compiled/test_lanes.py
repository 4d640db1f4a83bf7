"""More episodes than lanes; test_rollout.py holds lanes to all rules of an episode."""

from dataclasses import replace

import numpy as np
import pytest

from mpi_es.config.run import configured
from mpi_es.errors import RolloutError
from mpi_es.evaluation import build
from mpi_es.evaluation.compiled.lanes import LANES
from mpi_es.evaluation.rollout import Episode, EpisodeRules
from mpi_es.evaluation.sources import StaticSource
from tests.evaluation.compiled.test_rollout import in_order

WORLDS = {
    "lander": configured(env="mpi_es/LunarLander-v3", hidden=(9, 7)),
    "walker": configured(env="mpi_es/BipedalWalker-v3", policy="lstm", hidden=(10,)),
}


def source(rollout, episodes):
    """Two episodes of each candidate, each on a seed of its own."""
    rows = np.random.default_rng(0).normal(0, 0.2, (episodes, rollout.policy.dim)).astype(np.float32)
    return StaticSource(Episode(i, i // 2, 100 + i, rows[i // 2]) for i in range(episodes))


@pytest.mark.parametrize("repeat", [1, 3])
@pytest.mark.parametrize("name", WORLDS)
def test_an_episode_that_is_over_gives_its_lane_to_the_next(name, repeat):
    config = replace(WORLDS[name], action_repeat=repeat)
    fast, plain = build.make_rollout(config), build.make_rollout(replace(config, compiled=False))
    rules = EpisodeRules(cap=97, early_stop=15, collect=True)
    expected = in_order(plain.run(source(plain, 2 * LANES + 9), rules))
    assert len(set(expected[:, 2])) > 10
    np.testing.assert_array_equal(in_order(fast.run(source(fast, 2 * LANES + 9), rules)), expected)


def test_a_world_whose_lanes_fail_names_the_episodes_that_were_stepped(monkeypatch):
    fast = build.make_rollout(WORLDS["lander"])

    def fail(lanes, driver, batch, *_):
        batch.running[0] = -1
        raise ValueError("too steep")

    monkeypatch.setattr(fast, "_play", fail)
    with pytest.raises(
        RolloutError, match="one of 5 episodes, which are stepped together: ValueError: too steep"
    ):
        fast.run(source(fast, 5), EpisodeRules())


def test_lanes_that_are_abandoned_end_before_their_next_step():
    rollout = build.make_rollout(WORLDS["lander"])
    thread = rollout.threads[0]
    thread.episodes = [Episode(0, 0, 5, np.zeros(rollout.policy.dim, np.float32))]
    thread.driver.abandon[0] = 1
    rollout._run(thread, EpisodeRules())
    assert (thread.batch.totals[0], thread.batch.lengths[0]) == (0.0, 0)
