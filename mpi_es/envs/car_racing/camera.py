"""gymnasium's camera: behind the car, which looks up, and farther away in the first second."""

import math
from typing import NamedTuple

import numpy as np

from mpi_es.envs.car_racing import state
from mpi_es.envs.car_racing.shrinking import HEIGHT, WIDTH
from mpi_es.jit import compiled

SCALE = 6.0
ZOOM = 2.7


class Camera(NamedTuple):
    """A turn, a scale and a shift from the world to gymnasium's 1000x800 pixels, y pointing up."""

    zoom: float
    cosine: float
    sine: float
    x: float
    y: float


@compiled()
def aim(world: state.World) -> Camera:
    """Return the camera, as in gymnasium's `_render`."""
    t = world.clock[state.TIME]
    zoom = 0.1 * SCALE * max(1.0 - t, 0.0) + ZOOM * SCALE * min(t, 1.0)
    angle = -np.float64(world.angles[0])
    cosine, sine = math.cos(angle), math.sin(angle)
    x = -np.float64(world.transforms[0, 0]) * zoom
    y = -np.float64(world.transforms[0, 1]) * zoom
    return Camera(
        zoom, cosine, sine, WIDTH / 2 + (x * cosine - y * sine), HEIGHT / 4 + (x * sine + y * cosine)
    )


@compiled()
def look(camera: Camera, x: float, y: float) -> tuple[float, float]:
    """Return where a point of the world is seen."""
    turned_x = x * camera.cosine - y * camera.sine
    turned_y = x * camera.sine + y * camera.cosine
    return turned_x * camera.zoom + camera.x, turned_y * camera.zoom + camera.y
