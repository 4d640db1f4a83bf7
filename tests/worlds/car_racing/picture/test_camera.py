import numpy as np
import pygame
import pytest

from mpi_es.worlds.car_racing import state
from mpi_es.worlds.car_racing.picture.camera import aim, rotation, sight


@pytest.mark.parametrize("angle", [0.0, 1e-7, -1e-7, 1.3, -8.0, np.pi / 2, -np.pi, 4.71238898038469, 1e4])
def test_rotation_is_that_of_pygame_s_vectors(angle):
    assert rotation(angle) == tuple(pygame.math.Vector2(1, 0).rotate_rad(angle))


@pytest.mark.parametrize("time", [0.0, 0.3, 1.0, 20.0])
def test_the_camera_shows_the_car_where_gymnasium_puts_it(time):
    world, (x, y, angle) = state.allocate(), (12.5, -31.25, 0.75)
    world.transforms[0, :2], world.angles[0], world.clock[state.TIME] = (x, y), angle, time
    camera = aim(world)
    zoom = 0.1 * 6 * max(1 - time, 0) + 2.7 * 6 * min(time, 1)  # gymnasium's
    scroll = pygame.math.Vector2(-x * zoom, -y * zoom).rotate_rad(-angle)
    assert (camera.zoom, camera.x, camera.y) == (zoom, 500 + scroll[0], 200 + scroll[1])
    middle_x, middle_y, radius = sight(camera)
    ahead = np.array([middle_x - x, middle_y - y]) @ [-np.sin(angle), np.cos(angle)]
    np.testing.assert_allclose(ahead, 250 / zoom)  # the middle of what is above the panel
    assert radius * zoom == pytest.approx(np.hypot(500, 350) + 2)
