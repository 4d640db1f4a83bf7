import numpy as np
import pytest

from mpi_es.worlds.car_racing import simulation
from mpi_es.worlds.car_racing.picture.sizes import SIDE
from tests.worlds.car_racing.reference import GENTLE, reference


@pytest.mark.parametrize("picture", simulation.PICTURES)
def test_a_race_has_gymnasium_s_rewards_and_panel_with_either_picture(picture):
    ours, theirs = simulation.allocate(picture), reference()
    seen = np.zeros((SIDE, SIDE, 3), np.uint8)
    simulation.begin(ours, 21)
    expected, _ = theirs.reset(seed=21)
    for _ in range(30):
        simulation.draw(ours, seen)
        np.testing.assert_array_equal(seen[84:], expected[84:])
        reward, over = simulation.move(ours, *GENTLE.astype(float))
        expected, wanted, *_ = theirs.step(GENTLE)
        assert (reward, over) == (wanted, False)
    simulation.draw(ours, seen)
    difference = np.abs(seen[:84].astype(int) - expected[:84])
    assert (difference.max() == 0) == (picture == "exact")


def test_colours_come_from_a_stream_of_their_own():
    plain, coloured = simulation.allocate(), simulation.allocate(variant="color")
    for race in (plain, coloured):
        simulation.begin(race, 22)
    np.testing.assert_array_equal(plain.world.polygons, coloured.world.polygons)
    assert (plain.world.ground != coloured.world.ground).any()
