import numpy as np
import pygame
import pytest

from mpi_es.envs.car_racing.picture.camera import rotation


@pytest.mark.parametrize("angle", [0.0, 1e-7, -1e-7, 1.3, -8.0, np.pi / 2, -np.pi, 4.71238898038469, 1e4])
def test_rotation_is_that_of_pygame_s_vectors(angle):
    assert rotation(angle) == tuple(pygame.math.Vector2(1, 0).rotate_rad(angle))
