"""gymnasium's CarRacing beside ours: its state in our arrays, and drivers that get around the track."""

from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from mpi_es import envs
from mpi_es.worlds.car_racing import state

GENTLE = np.array([0.1, 0.2, 0.0], np.float32)  # an action that leaves no skid marks


def ours(*options: str, render_mode: str | None = None) -> Any:
    """Return our environment."""
    return envs.make("mpi_es/CarRacing-v3", options, render_mode)[0]


def reference(**options: Any) -> Any:
    """Return gymnasium's environment without its wrappers."""
    return gym.make("CarRacing-v3", **options).unwrapped


def copy_state(env: Any, world: state.World, shown_reward: float | None = None) -> None:
    """Fill our arrays from gymnasium's environment.

    Args:
        shown_reward: what the last picture was drawn with, if not the reward without its last -0.1.
    """
    tile = 0
    for i, (corners, colour) in enumerate(env.road_poly):
        kerb = isinstance(colour, tuple)
        world.polygons[i] = corners
        world.colours[i] = [int(c) for c in colour]
        world.tile[i] = -1 if kerb else tile
        tile += not kerb
    world.counts[state.POLYGON_COUNT], world.counts[state.TILE_COUNT] = len(env.road_poly), tile
    world.counts[state.VISITED_COUNT] = env.tile_visited_count
    world.visited[:tile] = [t.road_visited for t in env.road]
    world.ground[:] = [[int(c) for c in colour] for colour in (env.road_color, env.bg_color, env.grass_color)]
    world.start[:] = env.track[0][1:4]
    for i, body in enumerate((env.car.hull, *env.car.wheels)):
        turn = body.transform.q
        world.transforms[i] = (*body.position, turn.s, turn.c)
        world.angles[i] = body.angle
        world.velocities[i] = (*body.linearVelocity, body.angularVelocity)
    world.omega[:] = [wheel.omega for wheel in env.car.wheels]
    world.phase[:] = [wheel.phase for wheel in env.car.wheels]
    shown = env.reward + 0.1 * (env.t > 0.03) if shown_reward is None else shown_reward
    world.clock[:] = (env.t, env.reward, env.prev_reward, shown)


def drive(style: str, env: Any, seed: int) -> Iterator[NDArray[np.float32]]:
    """Yield actions without end.

    Args:
        style: "road" follows the track, "noisy" does so disturbed, "random" draws, "spin" turns at full
            gas, "straight" leaves the road.
    """
    rng = np.random.default_rng(seed)
    step = 0
    while True:
        action = _follow(env) if style in ("road", "noisy") else np.zeros(3)
        if style == "noisy":
            action += rng.normal(0, 0.3, 3)
        elif style == "random":
            action = rng.uniform([-1, 0, 0], [1, 1, 1])
        elif style == "spin":
            action = np.array([1.0, 1.0, 0.0 if step % 50 < 40 else 1.0])
        elif style == "straight":
            action = np.array([0.05, 0.6, 0.0])
        yield np.clip(action, [-1, 0, 0], [1, 1, 1]).astype(np.float32)
        step += 1


def _follow(env: Any) -> NDArray[np.float64]:
    """Return what steers gymnasium's car to a point a little ahead on the track."""
    track = np.array(env.track)
    hull = env.car.hull
    here = np.array(hull.position)
    nearest = int(np.argmin(((track[:, 2:] - here) ** 2).sum(1)))
    ahead = track[(nearest + 6) % len(track), 2:] - here
    heading = np.arctan2(-ahead[0], ahead[1]) - hull.angle  # the car looks along y at angle 0
    heading = (heading + np.pi) % (2 * np.pi) - np.pi
    speed = float(np.hypot(*hull.linearVelocity))
    return np.array([-1.5 * heading, 0.5 if speed < 40 else 0.0, 0.2 if speed > 55 else 0.0])
