import numpy as np
from gymnasium import spaces

from mpi_es.policies.options import RecurrentOptions
from mpi_es.policies.recurrent import Recurrent

VECTOR, TWO = spaces.Box(-1, 1, (3,), np.float32), spaces.Discrete(2)


def test_gates_that_saturate_do_not_overflow():
    policy = Recurrent(RecurrentOptions("lstm", hidden=(4,)), VECTOR, TWO)
    weights = policy.unpack(np.full((1, policy.dim), 1e30, np.float32))
    with np.errstate(over="raise", invalid="raise"):
        _, memory = policy.outputs(weights, np.ones((1, 3), np.float32), policy.initial_memory(1))
    assert np.isfinite(memory).all()
