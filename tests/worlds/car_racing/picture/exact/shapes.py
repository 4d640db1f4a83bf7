"""Shapes on our canvas and on a surface of pygame, both shrunk to a picture."""

import numpy as np
import pygame

from mpi_es.worlds.car_racing.picture.exact import compose, shrink

ROWS = 84  # the panel is below
COLOUR = (200, 100, 50)


def picture_of(scratch):
    """Return the shapes on the canvas as a picture."""
    ours = np.zeros((ROWS, 96, 3), np.uint8)
    for i in range(ROWS):
        first, last = shrink.rows_of(i)
        compose.paint(scratch.band, scratch.shapes, first, last)
        shrink.shrink(scratch.band, i, last - first + 1, ours)
    return ours


def shrunk(surface):
    small = pygame.transform.smoothscale(pygame.transform.flip(surface, False, True), (96, 96))
    return pygame.surfarray.array3d(small).transpose(1, 0, 2)[:ROWS]


def set_corners(scratch, corners):
    scratch.shapes.counts[:] = 0
    scratch.corners.x[: len(corners)], scratch.corners.y[: len(corners)] = np.transpose(corners)
