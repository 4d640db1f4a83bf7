import numpy as np
import pytest

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.bipedal_walker import BipedalWalker
from mpi_es.worlds.box2d.solver.lanes import SLOTS
from mpi_es.worlds.box2d.step import step, step_several
from mpi_es.worlds.box2d.terrain import put_edge
from mpi_es.worlds.lunar_lander import LunarLander


def play(world, states, steps, seed, together):
    """Take random steps in all states, together or one after the other; begin anew what is over."""
    count, rng = len(states), np.random.default_rng(seed)
    rewards, overs, scratch = np.zeros(count), np.zeros(count, bool), world.scratch()
    total = np.zeros(count)
    for turn in range(steps):
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
            world.reset(states[i], count * (1 + turn) + i)
    return total


@pytest.mark.parametrize(  # with 8 and 32 lanes
    ("world", "count"),
    [(LunarLander(), 3), (LunarLander(), 37), (BipedalWalker(hardcore=True), 41), (BipedalWalker(), 97)],
    ids=["lander-3", "lander-37", "hardcore-41", "walker-97"],
)
def test_states_that_step_together_are_those_that_step_alone(world, count):
    states = [np.repeat(world.fresh, count), np.repeat(world.fresh, count)]
    totals = []
    for ours, together in zip(states, (False, True), strict=True):
        for i in range(count):
            world.reset(ours[i], i)
        totals.append(play(world, ours, 150, count, together))
    assert totals[0].tolist() == totals[1].tolist()
    assert states[0].tobytes() == states[1].tobytes()


@compiled()
def land_on_rubble(states, scratch):
    """Fall on edges of five millimetres, step by step; return the most that touched a leg at once."""
    most = 0
    for i in range(len(states)):
        for piece in range(1, 11):
            left = 10.89 + 0.005 * piece
            put_edge(states[i].scene, piece, left, 12.0, left + 0.005, 12.0, 0, 0.1)
    for _ in range(60):
        if len(scratch):
            step_several(states, scratch[0])
        else:
            for i in range(len(states)):
                step(states[i].scene)
        touching = 0
        for place in range(states[0].scene.contact_count):
            contact = states[0].scene.contacts[place]
            touching += contact.touching and contact.body == 1
        most = max(most, touching)
    return most


def test_a_scene_with_more_contacts_than_slots_iterates_alone():
    world = LunarLander()
    alone, together, scratch = np.repeat(world.fresh, 4), np.repeat(world.fresh, 4), world.scratch()
    for states in (alone, together):
        for i in range(4):
            world.reset(states[i], i)
        for name in ("velocity_x", "velocity_y", "spin"):
            states["scene"]["bodies"][name] = 0
    assert land_on_rubble(alone, scratch[:0]) > SLOTS
    assert land_on_rubble(together, scratch) > SLOTS
    assert alone.tobytes() == together.tobytes()
