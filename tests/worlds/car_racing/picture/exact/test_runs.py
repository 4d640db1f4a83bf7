import numpy as np
import pygame

from mpi_es.worlds.car_racing.picture import exact
from mpi_es.worlds.car_racing.picture.exact import runs
from mpi_es.worlds.car_racing.picture.exact.canvas import EACH
from mpi_es.worlds.car_racing.picture.smoothscale import WINDOW_H, WINDOW_W
from tests.worlds.car_racing.picture.exact.shapes import set_corners

VISIBLE = pygame.Rect(0, 100, WINDOW_W, WINDOW_H - 100)


def test_a_shape_is_in_view_where_its_box_meets_the_window_above_the_panel():
    rng, canvas = np.random.default_rng(0), exact.allocate()
    found = []
    for _ in range(300):
        corners = rng.integers([-300, -200], [1300, 1000]) + rng.integers(-99, 100, (4, 2))
        set_corners(canvas, corners)
        low, high = corners.min(axis=0), corners.max(axis=0)
        box = pygame.Rect(*low.tolist(), *(high - low + 1).tolist())
        found.append(runs.in_view(canvas.corners, 4))
        assert found[-1] == bool(box.colliderect(VISIBLE))
    assert 0.3 < np.mean(found) < 0.9


def test_a_run_is_what_pygame_s_clipping_leaves_of_it():
    for x1, x2 in [(10, 20), (20, 10), (-5, 3), (990, 1200), (-9, 2000), (7, 7)]:
        clipped = pygame.Rect(min(x1, x2), 0, abs(x2 - x1) + 1, 1).clip(pygame.Rect(0, 0, WINDOW_W, 1))
        assert runs.visible_run(x1, x2) == (clipped.left, clipped.right)
    for x1, x2 in [(-9, -1), (1000, 1005)]:
        begin, end = runs.visible_run(x1, x2)
        assert begin == end


def test_sums_of_packed_colours_are_the_colours_of_sums():
    assert 3 * runs.pack(1, 20, 255) + runs.pack(2, 3, 4) == runs.pack(5, 63, 769)
    assert runs.pack(7, 7, 7) == 7 * EACH
