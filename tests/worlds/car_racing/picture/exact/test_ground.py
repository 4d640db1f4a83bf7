import numpy as np
import pytest

from mpi_es.worlds.car_racing import state
from mpi_es.worlds.car_racing.picture import exact
from tests.worlds.car_racing.picture.close.pictures import bare, put
from tests.worlds.car_racing.reference import copy_state


@pytest.mark.parametrize("place", [(3.0, -40.0), (330.0, 12.0), (-320.0, 325.0), (400.0, 400.0)])
@pytest.mark.parametrize("tiles", [0, 4])
def test_grass_map_and_a_stretch_of_road_are_gymnasium_s_to_the_bit(place, tiles):
    env, world, ours = bare(0, tiles), state.allocate(), np.zeros((96, 96, 3), np.uint8)
    if tiles:
        place = np.mean(env.road_poly[0][0], axis=0) + np.array(place) / 100
    for angle in (0.0, 0.9, -2.0):
        put(env, place, angle)
        copy_state(env, world)
        exact.draw(world, exact.allocate(), ours)
        np.testing.assert_array_equal(ours[:84], env._render("state_pixels")[:84])
