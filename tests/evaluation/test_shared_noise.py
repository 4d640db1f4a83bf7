import numpy as np
import pytest

from mpi_es.evaluation.shared_noise import SharedNoise
from mpi_es.parallel.collectives import SerialComm
from mpi_es.parallel.command_loop import CommandLoop
from mpi_es.strategies.noise import ComputedNoise


@pytest.mark.parametrize("dim", [1, 20_000])
def test_alone_the_sum_is_the_noise_s_own(dim):
    own = ComputedNoise(5, dim)
    shared, keys, weights = SharedNoise(CommandLoop(SerialComm()), own), own.keys(3, 7), np.linspace(-1, 1, 7)
    assert shared.dim == dim
    np.testing.assert_array_equal(shared.keys(3, 7), keys)
    np.testing.assert_array_equal(shared.row(int(keys[2])), own.row(int(keys[2])))
    np.testing.assert_array_equal(shared.weighted_sum(keys, weights), own.weighted_sum(keys, weights))
