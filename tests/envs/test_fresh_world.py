import gymnasium as gym
import numpy as np

from mpi_es.envs.fresh_world import FreshWorld


def test_each_episode_has_a_world_that_saw_no_other():
    env = FreshWorld(gym.make("BipedalWalker-v3"))
    first, _ = env.reset(seed=3)
    world = env.unwrapped.world
    for _ in range(50):
        env.step(np.ones(4, np.float32))
    again, _ = env.reset(seed=3)
    assert env.unwrapped.world is not world
    assert world.bodyCount == 0  # all of its bodies were taken out
    np.testing.assert_array_equal(again, first)
    env.close()
