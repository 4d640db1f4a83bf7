"""A step of Box2D's world, of one scene or of several at once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.box2d import lanes
from mpi_es.worlds.box2d.boxes import find_new_contacts
from mpi_es.worlds.box2d.contacts import collide
from mpi_es.worlds.box2d.impacts import solve_impacts
from mpi_es.worlds.box2d.island import begin_solve, end_solve, iterate_velocities, solve
from mpi_es.worlds.box2d.records import INT, Scene
from mpi_es.worlds.box2d.settings import WARMTH, ZERO
from mpi_es.worlds.box2d.sleep import any_awake

_BLOCK = 64  # scenes among which those with similar contacts are put together
_ASLEEP, _ALONE = -2, -1  # keys of scenes that are in no lane


@compiled()
def step(scene: Scene) -> None:
    """Advance a scene by a step: b2World::Step."""
    collide(scene)
    solve(scene)
    _end_step(scene)


@compiled()
def _end_step(scene: Scene) -> None:
    """Find the impacts, and be ready for the next step."""
    solve_impacts(scene)
    scene.warmth = WARMTH
    for i in range(len(scene.bodies)):
        body = scene.bodies[i]
        body.force_x = body.force_y = body.torque = ZERO


def scratch(scene: np.dtype[np.void], states: int) -> NDArray[np.void]:
    """Return the working space (1,) of `step_several` for so many states, whose scenes have that type.

    Up to 32 scenes iterate at once, also where a register holds 8: operations that do not wait for each other
    fill the time in which the others wait.
    """
    width = 8 if states <= 8 else 16 if states <= 16 else 32
    kind = [
        ("lanes", lanes.lanes(scene, width)),
        ("keys", INT, (_BLOCK,)),  # which bodies have contacts, a bit each
        ("order", INT, (_BLOCK,)),
    ]
    return np.zeros(1, np.dtype(kind))


@compiled()
def step_several(states: NDArray[np.void], scratch: Any) -> None:
    """Advance the scenes of several states, each as `step` does, to the bit."""
    for first in range(0, len(states), _BLOCK):
        count = min(len(states) - first, _BLOCK)
        for i in range(count):
            scratch.keys[i] = _begin(states[first + i].scene, scratch.lanes)
        _iterate(states, first, _sort(states, count, scratch), scratch)
        for i in range(count):
            scene = states[first + i].scene
            if scratch.keys[i] != _ASLEEP:
                end_solve(scene)
            find_new_contacts(scene)
            _end_step(scene)


@compiled()
def _begin(scene: Scene, space: lanes.Lanes) -> int:
    """Do what comes before the velocity iterations; return the scene's key."""
    collide(scene)
    if not any_awake(scene):
        return _ASLEEP
    begin_solve(scene)
    if not lanes.count_rows(space, scene):
        iterate_velocities(scene)
        return _ALONE
    key = 0
    for i in range(len(scene.bodies)):
        key |= int(space.used[i] > 0) << i
    return key


@compiled()
def _sort(states: NDArray[np.void], count: int, scratch: Any) -> int:
    """Order the scenes that go into lanes by their keys; return their number."""
    sorted_count = 0
    for key in range(1 << len(states[0].scene.bodies)):
        for i in range(count):
            if scratch.keys[i] == key:
                scratch.order[sorted_count] = i
                sorted_count += 1
    return sorted_count


@compiled()
def _iterate(states: NDArray[np.void], first: int, count: int, scratch: Any) -> None:
    """Iterate the velocities of the ordered scenes, a full set of lanes after the other."""
    space = scratch.lanes
    width = len(space.bodies[0].spin)
    for begin in range(0, count, width):
        members = min(count - begin, width)
        if members < width // 4:  # lanes would take longer
            for lane in range(members):
                iterate_velocities(states[first + scratch.order[begin + lane]].scene)
            return
        for i in range(len(space.slots)):
            space.slots[i] = 0
        for lane in range(members):
            lanes.count_rows(space, states[first + scratch.order[begin + lane]].scene)
            for i in range(len(space.slots)):
                space.slots[i] = max(space.slots[i], space.used[i])
        for lane in range(members):
            lanes.pack(space, lane, states[first + scratch.order[begin + lane]].scene)
        lanes.iterate_lanes(space, states[first].scene)
        for lane in range(members):
            lanes.unpack(space, lane, states[first + scratch.order[begin + lane]].scene)
