"""The positions of things in gymnasium's window: the zoom, scroll and turn of its _render."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.car_racing.picture.sizes import PANEL_LINES, WINDOW_H, WINDOW_W
from mpi_es.worlds.car_racing.state import SCALE, TIME, World

ZOOM = 2.7  # gymnasium's
EPSILON = 1e-6  # of pygame's Vector2


class Camera(NamedTuple):
    """A turn, then a zoom, then a shift, all in double precision as Python has them."""

    cosine: float
    sine: float
    zoom: float  # pixels in a metre
    x: float  # the world's origin, in pixels
    y: float


@compiled()
def aim(world: World) -> Camera:
    """Return the camera behind the car, which zooms in during the first second."""
    time = world.clock[TIME]
    zoom = 0.1 * SCALE * max(1 - time, 0.0) + ZOOM * SCALE * min(time, 1.0)
    cosine, sine = rotation(-np.float64(world.angles[0]))
    scroll_x = -np.float64(world.transforms[0, 0]) * zoom
    scroll_y = -np.float64(world.transforms[0, 1]) * zoom
    x = WINDOW_W / 2 + (cosine * scroll_x - sine * scroll_y)
    y = WINDOW_H / 4 + (sine * scroll_x + cosine * scroll_y)
    return Camera(cosine, sine, zoom, x, y)


@compiled()
def rotation(angle: float) -> tuple[float, float]:
    """Return cosine and sine as in Vector2.rotate_rad, which are exact near right angles."""
    angle = np.fmod(angle, 2 * math.pi)
    if angle < 0:
        angle += 2 * math.pi
    if np.fmod(angle + EPSILON, math.pi / 2) >= 2 * EPSILON:
        return math.cos(angle), math.sin(angle)
    quarter = int((angle + EPSILON) / (math.pi / 2)) % 4
    return (1.0, 0.0, -1.0, 0.0)[quarter], (0.0, 1.0, 0.0, -1.0)[quarter]


@compiled()
def project(camera: Camera, x: float, y: float) -> tuple[int, int]:
    """Return the pixel of a point of the world; pygame truncates it toward zero."""
    seen_x, seen_y = look(camera, x, y)
    return int(seen_x), int(seen_y)


@compiled(borrowing=True)
def project_from_body(
    camera: Camera, transforms: NDArray[np.float32], body: int, x: np.float32, y: np.float32
) -> tuple[int, int]:
    """Return the pixel of a point of a body, which Box2D moves into the world in single precision."""
    sine, cosine = transforms[body, 2], transforms[body, 3]
    world_x = (cosine * x - sine * y) + transforms[body, 0]
    world_y = (sine * x + cosine * y) + transforms[body, 1]
    return project(camera, np.float64(world_x), np.float64(world_y))


@compiled()
def look(camera: Camera, x: float, y: float) -> tuple[float, float]:
    """Return the position of a point of the world in the window, in pixels with y pointing up."""
    turned_x = camera.cosine * x - camera.sine * y
    turned_y = camera.sine * x + camera.cosine * y
    return turned_x * camera.zoom + camera.x, turned_y * camera.zoom + camera.y


@compiled()
def sight(camera: Camera) -> tuple[float, float, float]:
    """Return centre and radius of a circle in the world around everything visible above the panel."""
    x, y = (WINDOW_W / 2 - camera.x) / camera.zoom, ((WINDOW_H + PANEL_LINES) / 2 - camera.y) / camera.zoom
    half_diagonal = math.hypot(WINDOW_W / 2, (WINDOW_H - PANEL_LINES) / 2)
    radius = (half_diagonal + 2) / camera.zoom  # corners may be off by a pixel
    return camera.cosine * x + camera.sine * y, camera.cosine * y - camera.sine * x, radius
