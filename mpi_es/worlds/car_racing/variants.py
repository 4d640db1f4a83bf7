"""The variants of the attention agent's paper: other colours, bars at the sides, a blob next to the road.

As in the paper's code, the road's colour shifts by one number and the ground's by another. The brighter
patches of the ground keep theirs. The blob is fixed to the car, so that it does not move in the picture.
"""

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.car_racing.physics.arrays import Physics
from mpi_es.worlds.car_racing.picture.camera import aim
from mpi_es.worlds.car_racing.picture.sizes import SIDE, VIEW_ROWS, WINDOW_H, WINDOW_W
from mpi_es.worlds.car_racing.state import World
from mpi_es.worlds.numpy_random import uniform

NAMES = ("plain", "color", "bars", "blob")
PLAIN, COLOR, BARS, BLOB = range(4)

_SHIFT = 0.2 * 255  # the most that a colour shifts
_GROUND = np.array([[102, 102, 102], [102, 204, 102]])  # gymnasium's road and background
_BAR = 75.0  # pixels of gymnasium's window
_BLOB = np.array([21.0, 7.6, 29.0, 15.6])  # metres right and ahead of the car: near corner, far corner
_RED = 204 - 2  # of the blob; smoothscale truncates twice
_CELL_W, _CELL_H = WINDOW_W / SIDE, WINDOW_H / SIDE  # pixels of the window that make one of the picture


@compiled()
def shift_colours(world: World, physics: Physics, generator: NDArray[np.uint64]) -> None:
    """Draw the colours of an episode; call it before its track is made."""
    for i in range(2):
        shift = uniform(generator, -_SHIFT, _SHIFT)
        for channel in range(3):
            world.ground[i, channel] = int(_GROUND[i, channel] + shift)
            if i == 0:
                physics.road_colour[channel] = _GROUND[i, channel] + shift


@compiled()
def colour(variant: int) -> tuple[int, int, int]:
    """Return the colour of bars or blob."""
    return _RED * (variant == BLOB), 0, 0


@compiled()
def cover(world: World, variant: int, picture: NDArray[np.uint8]) -> None:
    """Put bars or blob over a picture."""
    if variant in (BARS, BLOB):
        covers = rectangles(world, variant)
        for i in range(len(covers)):
            left, top, right, bottom = covers[i, 0], covers[i, 1], covers[i, 2], covers[i, 3]
            _paint(picture, left, top, right, bottom, colour(variant)[0])


@compiled()
def rectangles(world: World, variant: int) -> NDArray[np.float64]:
    """Return left, top, right and bottom (n, 4) of bars or blob, in pixels of gymnasium's window."""
    if variant == BARS:
        return np.array([[0.0, 0.0, _BAR, WINDOW_H], [WINDOW_W - _BAR, 0.0, WINDOW_W, WINDOW_H]])
    zoom = aim(world).zoom
    x, y = WINDOW_W / 2, 3 * WINDOW_H / 4  # the car's place
    return np.array([[x + zoom * _BLOB[0], y - zoom * _BLOB[3], x + zoom * _BLOB[2], y - zoom * _BLOB[1]]])


@compiled()
def _paint(
    picture: NDArray[np.uint8], left: float, top: float, right: float, bottom: float, red: int
) -> None:
    """Paint a rectangle of gymnasium's window red, or black; a pixel on its edge is blended by area."""
    for row in range(max(int(top / _CELL_H), 0), min(int(bottom / _CELL_H) + 1, VIEW_ROWS)):
        height = min(bottom / _CELL_H, row + 1.0) - max(top / _CELL_H, float(row))
        for column in range(max(int(left / _CELL_W), 0), min(int(right / _CELL_W) + 1, SIDE)):
            width = min(right / _CELL_W, column + 1.0) - max(left / _CELL_W, float(column))
            rest = 1.0 - height * width
            pixel = picture[row, column]
            pixel[0] = int(rest * pixel[0] + (1.0 - rest) * red)
            pixel[1] = int(rest * pixel[1])
            pixel[2] = int(rest * pixel[2])
