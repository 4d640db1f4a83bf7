"""pygame's polygons after shrinking: corners truncated to whole pixels, half a pixel off,
slightly too large.
"""

import numpy as np

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.car_racing.picture.camera import Camera, look
from mpi_es.worlds.car_racing.picture.close.coverage import Cells, Weights, add_edge
from mpi_es.worlds.car_racing.picture.sizes import SIDE, WINDOW_H, WINDOW_W

# By how many pixels gfxdraw's polygons exceed the true ones. A steep edge's fill is half a pixel too wide,
# and the antialiased outline adds 1/8 on average; of a flat edge the outline alone adds 1/2.
FAT_X, FAT_Y = 0.625, 0.5


@compiled()
def fatness(x: float, y: float) -> float:
    """Return how far an edge with the normal (x, y) lies outside of the true one."""
    return max(FAT_X * abs(x), FAT_Y * abs(y))


@compiled()
def see(camera: Camera, x: float, y: float, shift_x: float, shift_y: float) -> tuple[np.float32, np.float32]:
    """Return the position of a vertex in the 96x96 picture, y pointing down.

    Args:
        shift_x: its shift, in pixels of 1000x800.
    """
    large_x, large_y = look(camera, x, y)
    # gfxdraw cuts to integers, toward zero. Pixel i covers i to i + 1, hence the halves.
    middle_x = np.float64(int(large_x)) + 0.5 + shift_x
    middle_y = np.float64(int(large_y)) + 0.5 + shift_y
    return np.float32(middle_x * (SIDE / WINDOW_W)), np.float32((WINDOW_H - middle_y) * (SIDE / WINDOW_H))


@compiled()
def add_rectangle(
    cells: Cells,
    camera: Camera,
    left: float,
    bottom: float,
    right: float,
    top: float,
    weights: Weights,
) -> None:
    """Add a rectangle that is upright in the world."""
    cosine, sine = camera.cosine, camera.sine
    # How far the sides move, along the world's x and along its y, seen turned
    fat_x, fat_y = fatness(cosine, sine), fatness(sine, cosine)
    ax, ay = fat_x * cosine, fat_x * sine
    bx, by = -fat_y * sine, fat_y * cosine
    x0, y0 = see(camera, left, top, bx - ax, by - ay)
    x1, y1 = see(camera, right, top, bx + ax, by + ay)
    x2, y2 = see(camera, right, bottom, ax - bx, ay - by)
    x3, y3 = see(camera, left, bottom, -ax - bx, -ay - by)
    add_edge(cells, x0, y0, x1, y1, weights)
    add_edge(cells, x1, y1, x2, y2, weights)
    add_edge(cells, x2, y2, x3, y3, weights)
    add_edge(cells, x3, y3, x0, y0, weights)
