import numpy as np
import pytest

from mpi_es import envs
from mpi_es.worlds.cyclic_mdp import CyclicMDP
from mpi_es.worlds.env import WorldEnv


def test_the_ring_pays_one_one_two():
    env, limit = envs.make("mpi_es/CyclicMDP-v0")
    first, _ = env.reset(seed=0)
    steps = [env.step(1) for _ in range(limit)]
    assert first.tolist() == [1, 0, 0]
    assert [observation.tolist() for observation, *_ in steps[:3]] == [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    assert [reward for _, reward, *_ in steps[:4]] == [1, 1, 2, 1]
    assert sum(reward for _, reward, *_ in steps) == 333 * 4 + 1
    assert not any(terminated for _, _, terminated, *_ in steps)


@pytest.mark.parametrize("action", [0, 2])
def test_any_other_action_ends_the_episode(action):
    env = WorldEnv(CyclicMDP())
    env.reset(seed=0)
    env.step(np.int64(1))
    _, reward, terminated, truncated, _ = env.step(np.int64(action))
    assert (reward, terminated, truncated) == (-1, True, False)
    assert env.reset()[0].tolist() == [1, 0, 0]


def test_it_can_be_read():
    env, _ = envs.make("mpi_es/CyclicMDP-v0", render_mode="ansi")
    env.reset()
    env.step(1)
    assert env.render() == " 0  -> [1] ->  2 "
