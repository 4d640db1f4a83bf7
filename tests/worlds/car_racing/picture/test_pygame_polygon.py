import math

import numpy as np
import pygame
import pytest

from mpi_es.worlds.car_racing.picture.pygame_polygon import find_runs, include_flat_edges

WINDOW = 80  # pixels


@pytest.mark.parametrize("scale", [0.4, 2.0, 16.2])
def test_runs_of_convex_polygons_are_pygames_pixels(scale):
    rng = np.random.default_rng(1)
    first, second = np.zeros((2, WINDOW), np.int32)
    for _ in range(50):
        angles = np.sort(rng.uniform(0, 2 * math.pi, 8))
        x, y = (WINDOW / 2 + scale * np.array([np.cos(angles), np.sin(angles)])).astype(np.int64)
        surface = pygame.Surface((WINDOW, WINDOW))
        pygame.draw.polygon(surface, "white", np.stack([x, y], axis=1).tolist())
        low = find_runs(x, y, 8, first, second)
        include_flat_edges(x, y, 8, low, first, second)
        ours = np.zeros((WINDOW, WINDOW), bool)
        for row in range(np.ptp(y) + 1):
            ends = sorted((first[row], second[row]))
            ours[ends[0] : ends[1] + 1, low + row] = True
        np.testing.assert_array_equal(ours, pygame.surfarray.array_red(surface) > 0)
