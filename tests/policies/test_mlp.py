import numpy as np
import pytest
from gymnasium import spaces
from threadpoolctl import threadpool_limits

from mpi_es.policies.mlp import MLP
from mpi_es.policies.options import MLPOptions


def mlp(inputs, hidden, outputs, **options):
    made_with = MLPOptions(hidden=hidden, **options)
    return MLP(made_with, spaces.Box(-1, 1, (inputs,), np.float32), spaces.Discrete(outputs))


@pytest.mark.parametrize("activation", ["tanh", "relu", "selu"])
@pytest.mark.parametrize("sizes", [(8, 64, 64, 4), (1, 1, 1), (3, 33, 17, 1), (128, 200, 500, 6), (2, 5)])
def test_batch_of_k_equals_k_batches_of_one(sizes, activation):
    policy = mlp(sizes[0], sizes[1:-1], sizes[-1], activation=activation)
    rng = np.random.default_rng(0)
    most = 40 if policy.dim < 10_000 else 5
    parameters = rng.standard_normal((most, policy.dim), np.float32)
    observations = rng.standard_normal((most, sizes[0]), np.float32)
    with threadpool_limits(1):
        single = [policy.outputs(policy.unpack(parameters[i : i + 1]), observations[i : i + 1], None)[0]
                  for i in range(most)]  # fmt: skip
        for k in range(1, most + 1):
            outputs, _ = policy.outputs(policy.unpack(parameters[:k]), observations[:k], None)
            assert outputs.tobytes() == np.concatenate(single[:k]).tobytes()


def test_strides_and_precision_of_the_observations_do_not_matter():
    policy = mlp(6, (8,), 3)
    weights = policy.unpack(np.random.default_rng(0).standard_normal((4, policy.dim), np.float32))
    wide = np.random.default_rng(1).standard_normal((4, 12), np.float32)
    expected, _ = policy.outputs(weights, wide[:, ::2].copy(), None)
    assert np.array_equal(policy.outputs(weights, wide[:, ::2], None)[0], expected)
    assert np.array_equal(policy.outputs(weights, wide[:, ::2].astype(np.float64), None)[0], expected)
