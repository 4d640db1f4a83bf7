import numpy as np
import pytest

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.bipedal_walker import BipedalWalker
from mpi_es.worlds.box2d import lanes
from mpi_es.worlds.lunar_lander import LunarLander


def play(world, states, steps, seed, together):
    """Take random steps in all states, together or one after the other; begin anew what is over."""
    count, rng = len(states), np.random.default_rng(seed)
    rewards, overs, scratch = np.zeros(count), np.zeros(count, bool), world.scratch(count)
    total = np.zeros(count)
    for step in range(steps):
        if isinstance(world, LunarLander):
            actions = rng.integers(4, size=count)
        else:
            actions = rng.uniform(-1, 1, (count, 4)).astype(np.float32)
        if together:
            world.step_lanes(states, actions, rewards, overs, scratch[0])
        else:
            for i in range(count):
                rewards[i], overs[i] = world.step(states[i], actions[i])
        total += rewards
        for i in np.nonzero(overs)[0]:
            world.reset(states[i], count * (1 + step) + i)
    return total


@pytest.mark.parametrize("world", [LunarLander(), BipedalWalker(hardcore=True)], ids=["lander", "hardcore"])
@pytest.mark.parametrize("count", [3, 11, 37])  # with 8, 16 and 32 lanes
def test_states_that_step_together_are_those_that_step_alone(world, count):
    states = [np.repeat(world.fresh, count), np.repeat(world.fresh, count)]
    totals = []
    for ours, together in zip(states, (False, True), strict=True):
        for i in range(count):
            world.reset(ours[i], i)
        totals.append(play(world, ours, 150, count, together))
    assert totals[0].tolist() == totals[1].tolist()
    assert states[0].tobytes() == states[1].tobytes()
