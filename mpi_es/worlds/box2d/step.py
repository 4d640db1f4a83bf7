"""A step of Box2D's world, of one scene or of several at once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.box2d.boxes import find_new_contacts
from mpi_es.worlds.box2d.collision.contacts import collide
from mpi_es.worlds.box2d.records import INT, Scene
from mpi_es.worlds.box2d.settings import WARMTH, ZERO
from mpi_es.worlds.box2d.solver.impacts import solve_impacts
from mpi_es.worlds.box2d.solver.island import begin_solve, end_solve, iterate_velocities, solve
from mpi_es.worlds.box2d.solver.lane_iterations import iterate_lanes
from mpi_es.worlds.box2d.solver.lanes import Lanes, count_rows, lanes, pack, unpack
from mpi_es.worlds.box2d.solver.sleep import any_awake

_FEW = 8  # lanes for what is left over; so many scenes take as long in 32 lanes (benchmarks/box2d.py)
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
    """Find the impacts, and prepare the next step."""
    solve_impacts(scene)
    scene.warmth = WARMTH
    for i in range(len(scene.bodies)):
        body = scene.bodies[i]
        body.force_x = body.force_y = body.torque = ZERO


def scratch(scene: np.dtype[np.void]) -> NDArray[np.void]:
    """Return the working space (1,) of `step_several` for states whose scenes have that type.

    Up to 32 scenes iterate at once, even if a register holds 8: independent operations fill the time in which
    others wait.
    """
    kind = [
        ("many", lanes(scene, 32)),
        ("few", lanes(scene, _FEW)),
        ("keys", INT, (_BLOCK,)),  # which bodies have contacts, a bit each
        ("order", INT, (_BLOCK,)),
    ]
    return np.zeros(1, np.dtype(kind))


@compiled()
def step_several(states: NDArray[np.void], scratch: Any) -> None:
    """Advance the scenes of several states, bit-identical to `step`."""
    for first in range(0, len(states), _BLOCK):
        _step_block(states[first : first + _BLOCK], scratch)


@compiled()
def _step_block(states: NDArray[np.void], scratch: Any) -> None:
    """Advance at most as many scenes as scratch has keys for."""
    for i in range(len(states)):
        scratch.keys[i] = _begin(states[i].scene, scratch.few)
    _iterate(states, _sort(states, scratch), scratch)
    for i in range(len(states)):
        scene = states[i].scene
        if scratch.keys[i] != _ASLEEP:
            end_solve(scene)
        find_new_contacts(scene)
        _end_step(scene)


@compiled()
def _begin(scene: Scene, space: Lanes) -> int:
    """Do the part of a step before the velocity iterations; return the scene's key."""
    collide(scene)
    if not any_awake(scene):
        return _ASLEEP
    begin_solve(scene)
    if not count_rows(space, scene):
        iterate_velocities(scene)
        return _ALONE
    key = 0
    for i in range(len(scene.bodies)):
        key |= int(space.used[i] > 0) << i
    return key


@compiled()
def _sort(states: NDArray[np.void], scratch: Any) -> int:
    """Order the scenes that go into lanes by their keys; return their number."""
    count = 0
    for key in range(1 << len(states[0].scene.bodies)):
        for i in range(len(states)):
            if scratch.keys[i] == key:
                scratch.order[count] = i
                count += 1
    return count


@compiled()
def _iterate(states: NDArray[np.void], count: int, scratch: Any) -> None:
    """Iterate the velocities of the scenes in order, as many at once as there are lanes."""
    first = 0
    while count - first >= _FEW:
        last = min(count, first + len(scratch.many.bodies[0].spin))
        _iterate_together(states, scratch.order[first:last], scratch.many)
        first = last
    if count - first > 1:
        _iterate_together(states, scratch.order[first:count], scratch.few)
    elif count > first:
        iterate_velocities(states[scratch.order[first]].scene)


@compiled()
def _iterate_together(states: NDArray[np.void], order: NDArray[np.integer], space: Lanes) -> None:
    """Iterate the velocities of the scenes of these states, one in each lane."""
    for i in range(len(space.slots)):
        space.slots[i] = 0
    for k in order:
        count_rows(space, states[k].scene)
        for i in range(len(space.slots)):
            space.slots[i] = max(space.slots[i], space.used[i])
    for lane, k in enumerate(order):
        pack(space, lane, states[k].scene)
    iterate_lanes(space, states[order[0]].scene)
    for lane, k in enumerate(order):
        unpack(space, lane, states[k].scene)
