import numpy as np

from mpi_es.evaluation.normalisation import normalise


def test_normalised_observations_are_single_clipped_and_new():
    seen = np.array([[100.0, -100.0, 2.0]])
    normalisation = np.array([[0, 0, 1], [1, 1, 0.5]])
    scaled = normalise(seen, normalisation)
    np.testing.assert_array_equal(scaled, np.array([[5, -5, 0.5]], np.float32))
    assert scaled.dtype == np.float32
    assert seen[0, 0] == 100
