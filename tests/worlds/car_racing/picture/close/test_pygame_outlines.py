import numpy as np
import pygame
import pytest
from pygame import gfxdraw

from mpi_es.worlds.car_racing.picture.camera import Camera
from mpi_es.worlds.car_racing.picture.close.coverage import allocate
from mpi_es.worlds.car_racing.picture.close.pygame_outlines import add_rectangle
from mpi_es.worlds.car_racing.picture.sizes import VIEW_ROWS
from mpi_es.worlds.car_racing.picture.smoothscale import WINDOW_H, WINDOW_W

WHITE = (255, 255, 255)


def by_pygame(camera, left, bottom, right, top):
    """Return the brightness (VIEW_ROWS, SIDE) of a rectangle as gymnasium draws and shrinks polygons."""
    turn = np.array([[camera.cosine, -camera.sine], [camera.sine, camera.cosine]])
    corners = np.array([(left, top), (right, top), (right, bottom), (left, bottom)]) @ turn.T
    corners = (corners * camera.zoom + (camera.x, camera.y)).astype(int).tolist()
    surface = pygame.Surface((WINDOW_W, WINDOW_H))
    gfxdraw.aapolygon(surface, corners, WHITE)
    gfxdraw.filled_polygon(surface, corners, WHITE)
    small = pygame.transform.smoothscale(pygame.transform.flip(surface, False, True), (96, 96))
    return pygame.surfarray.array3d(small)[..., 0].T[:VIEW_ROWS]


@pytest.mark.parametrize("angle", [0.0, 0.4, np.pi / 2, 2.2, -1.0])
def test_a_rectangle_is_as_bright_as_pygame_s(angle):
    camera = Camera(float(np.cos(angle)), float(np.sin(angle)), 16.2, 487.3, 402.8)
    for sides in ((-12.2, -5.1, 3.4, 9.9), (2.0, 2.0, 4.0, 20.0), (-40.0, -40.0, 40.0, -3.0)):
        cells = allocate(1)
        add_rectangle(cells, camera, *sides, (np.float32(1),))
        ours = 255 * cells.areas[:VIEW_ROWS, 0].cumsum(axis=0)
        error = np.abs(ours - by_pygame(camera, *sides))
        assert error.mean() < 1.5  # of it 2 where all is white: smoothscale takes them away
        assert error.max() < 20
