import numpy as np
import pygame
import pytest
from numpy.testing import assert_array_equal

from mpi_es.worlds.car_racing.picture import exact
from mpi_es.worlds.car_racing.picture.exact import car, runs
from mpi_es.worlds.car_racing.picture.smoothscale import WINDOW_H, WINDOW_W
from tests.worlds.car_racing.picture.exact.shapes import COLOUR, picture_of, set_corners, shrunk


@pytest.fixture(scope="module")
def scratch():
    return exact.allocate()


@pytest.mark.parametrize("radius", [2, 12, 60, 400])
def test_convex_polygons_are_pygame_s(radius, scratch):
    rng = np.random.default_rng(radius)
    for _ in range(25):
        angles = np.sort(rng.uniform(0, 2 * np.pi, rng.integers(4, 9)))
        centre = rng.integers([0, 100], [1000, 800])
        corners = (centre + radius * np.stack([np.cos(angles), np.sin(angles)], 1)).astype(int)
        surface = pygame.Surface((WINDOW_W, WINDOW_H))
        pygame.draw.polygon(surface, COLOUR, corners.tolist())
        set_corners(scratch, corners)
        car.draw_polygon(scratch, runs.pack(*COLOUR), len(corners))
        assert_array_equal(picture_of(scratch), shrunk(surface))
