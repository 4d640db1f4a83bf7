import numpy as np
import pytest

from mpi_es.run_file.scores import half_interval


def test_the_interval_of_a_mean():
    returns = np.array([1.0, 2.0, 3.0, 4.0])  # deviation 1.291, over 2: 0.645 times 1.96
    assert half_interval(returns) == pytest.approx(1.2652, abs=1e-4)
    assert half_interval(np.array([5.0])) == 0
