import numpy as np
import pygame
import pytest
from numpy.testing import assert_array_equal
from pygame import gfxdraw

from mpi_es.worlds.car_racing.picture import exact
from mpi_es.worlds.car_racing.picture.exact import aaline, filled_polygon, runs
from mpi_es.worlds.car_racing.picture.smoothscale import WINDOW_H, WINDOW_W
from tests.worlds.car_racing.picture.exact.shapes import COLOUR, picture_of, set_corners, shrunk


@pytest.fixture(scope="module")
def scratch():
    return exact.allocate()


@pytest.mark.parametrize("spread", [3, 30, 300, 3000])
def test_quadrilaterals_of_any_form_are_gfxdraw_s(spread, scratch):
    rng = np.random.default_rng(spread)
    for _ in range(25):
        corners = rng.integers([0, 100], [1000, 800]) + rng.integers(-spread, spread + 1, (4, 2))
        surface = pygame.Surface((WINDOW_W, WINDOW_H))
        gfxdraw.aapolygon(surface, corners.tolist(), COLOUR)
        gfxdraw.filled_polygon(surface, corners.tolist(), COLOUR)
        set_corners(scratch, corners)
        if runs.in_view(scratch.corners, 4):
            aaline.outline(scratch, filled_polygon.fill(scratch, runs.pack(*COLOUR)))
        assert_array_equal(picture_of(scratch), shrunk(surface))
