import numpy as np
import pygame
from numpy.testing import assert_array_equal

from mpi_es.worlds.car_racing.picture import exact
from mpi_es.worlds.car_racing.picture.exact import car, runs, shrink
from mpi_es.worlds.car_racing.picture.smoothscale import WINDOW_H, WINDOW_W
from tests.worlds.car_racing.picture.exact.shapes import picture_of, shrunk


def test_upright_rectangles_of_all_colours_shrink_as_pygame_s():
    rng, canvas = np.random.default_rng(0), exact.allocate()
    surface = pygame.Surface((WINDOW_W, WINDOW_H))
    for _ in range(300):
        (left, top), (width, height) = rng.integers([-50, 50], [1000, 800]), rng.integers(1, 200, 2)
        colour = rng.integers(0, 256, 3).tolist()
        surface.fill(colour, (left, top, width, height))
        right, bottom = left + width - 1, top + height - 1
        corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
        canvas.corners.x[:4], canvas.corners.y[:4] = np.transpose(corners)
        car.draw_polygon(canvas, runs.pack(*colour), 4)
    assert_array_equal(picture_of(canvas), shrunk(surface))


def test_each_row_of_the_picture_is_from_the_rows_where_smoothscale_has_it():
    heights = [last - first + 1 for first, last in map(shrink.rows_of, range(84))]
    assert set(heights) <= {8, 9}
    assert shrink.rows_of(0)[1] == WINDOW_H - 1
    lasts, firsts = [shrink.rows_of(i)[1] for i in range(1, 84)], [shrink.rows_of(i)[0] for i in range(83)]
    assert lasts == [first - 1 for first in firsts]
