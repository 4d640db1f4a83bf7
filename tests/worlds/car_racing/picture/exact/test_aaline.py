import numpy as np
import pygame
import pytest
from numpy.testing import assert_array_equal
from pygame import gfxdraw

from mpi_es.worlds.car_racing.picture import exact
from mpi_es.worlds.car_racing.picture.exact import aaline, filled_polygon, runs
from mpi_es.worlds.car_racing.picture.smoothscale import WINDOW_H, WINDOW_W
from tests.worlds.car_racing.picture.exact.shapes import COLOUR, picture_of, set_corners, shrunk


@pytest.mark.parametrize("spread", [2, 25, 400, 2000])
def test_lines_without_a_filling_are_gfxdraw_s(spread):
    rng, scratch = np.random.default_rng(spread), exact.allocate()
    for _ in range(25):
        corners = rng.integers([0, 100], [1000, 800]) + rng.integers(-spread, spread + 1, (4, 2))
        surface = pygame.Surface((WINDOW_W, WINDOW_H))
        gfxdraw.aapolygon(surface, corners.tolist(), COLOUR)
        set_corners(scratch, corners)
        if runs.in_view(scratch.corners, 4):
            aaline.outline(scratch, filled_polygon.fill(scratch, runs.pack(*COLOUR)))
            scratch.shapes.begin[:] = scratch.shapes.end[:] = 0  # no filling
        assert_array_equal(picture_of(scratch), shrunk(surface))
