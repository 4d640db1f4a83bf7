from typing import Any

import numpy as np
import pytest

from mpi_es.worlds import numpy_random
from mpi_es.worlds.car_racing import state
from mpi_es.worlds.car_racing.physics import arrays
from mpi_es.worlds.car_racing.physics.track import make_track
from tests.worlds.car_racing.reference import copy_state


@pytest.mark.parametrize(
    "seed", [*range(20), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1000, 1200))]
)
def test_tracks_are_gymnasiums(env: Any, seed: int) -> None:
    expected, ours, own = state.allocate(), state.allocate(), arrays.allocate()
    env.reset(seed=seed)
    copy_state(env, expected)
    draws = numpy_random.allocate()
    numpy_random.seed_generator(draws, seed)
    make_track(ours, own, draws)
    assert ours.polygon_count == expected.polygon_count
    assert ours.tile_count == expected.tile_count
    np.testing.assert_array_equal(ours.polygons, expected.polygons)
    np.testing.assert_array_equal(ours.tile[: ours.polygon_count], expected.tile[: ours.polygon_count])
    np.testing.assert_array_equal(ours.start, expected.start)
    for tile, body in enumerate(env.road):
        vertices = body.fixtures[0].shape.vertices
        assert own.sizes[tile] == len(vertices)
        np.testing.assert_array_equal(own.vertices[tile, : len(vertices)], np.array(vertices, np.float32))
    kerbs = ours.tile[: ours.polygon_count] == -1
    shown, wanted = ours.colours[: ours.polygon_count], expected.colours[: ours.polygon_count]
    np.testing.assert_array_equal(shown[kerbs], wanted[kerbs])
