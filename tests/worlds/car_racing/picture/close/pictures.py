"""Our close picture of gymnasium's race, and a race with only a part of what is on its map."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.worlds.car_racing import state
from mpi_es.worlds.car_racing.picture import panel
from mpi_es.worlds.car_racing.picture.close import compose
from tests.worlds.car_racing.reference import copy_state, reference

CANVAS, PANEL = compose.allocate(), panel.allocate()


def drawn(env: Any, shown_reward: float | None = None) -> NDArray[np.uint8]:
    """Return our picture of gymnasium's environment as it is."""
    world, picture = state.allocate(), np.zeros((96, 96, 3), np.uint8)
    copy_state(env, world, shown_reward)
    compose.draw(world, CANVAS, picture)
    panel.draw_panel(world, PANEL, picture)
    return picture


def bare(first: int = 0, last: int = 0, seed: int = 1) -> Any:
    """Return gymnasium's environment with no more of the road than polygons first to before last."""
    env = reference()
    env.reset(seed=seed)
    env.t = 2.0
    env.road_poly = env.road_poly[first:last]
    env.road = env.road[: sum(not isinstance(colour, tuple) for _, colour in env.road_poly)]
    return env


def put(env: Any, place: Any, angle: float = 0.0) -> None:
    """Put the car somewhere."""
    for body in (env.car.hull, *env.car.wheels):
        body.transform = (tuple(map(float, place)), angle)


def errors(env: Any) -> NDArray[np.int64]:
    """Return by how many levels of brightness ours is off, (84, 96, 3)."""
    return np.abs(drawn(env, env.reward).astype(int) - env._render("state_pixels"))[:84]
