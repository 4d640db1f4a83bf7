import numpy as np
import pytest
import torch

from mpi_es.policies import networks


def test_layers_alternate_with_activations_and_end_linear():
    module = networks.multilayer([3, 5, 2], "relu")
    first, activation, last = module
    assert isinstance(activation, torch.nn.ReLU)
    assert (first.in_features, first.out_features, last.out_features) == (3, 5, 2)
    x = torch.randn(4, 3)
    assert torch.equal(module(x), last(torch.relu(first(x))))


@pytest.mark.parametrize("cell", ["rnn", "lstm", "gru"])
def test_a_recurrent_network_steps_as_torch_s_layer_over_a_sequence(cell):
    torch.manual_seed(0)
    network, memory = networks.RecurrentNetwork(cell, "tanh", 3, 4, 2), None
    sequence = torch.randn(2, 6, 3)
    for t in range(6):
        outputs, memory = network(sequence[:, t], memory)
    expected = network.out(network.cell(sequence)[0][:, -1])
    torch.testing.assert_close(outputs, expected)


def test_a_seed_draws_the_same_parameters_and_leaves_torch_s_generator_alone():
    before = torch.get_rng_state()
    one, other, third = (networks.flat(networks.seeded(lambda: torch.nn.Linear(3, 2), s)) for s in (5, 5, 6))
    assert torch.equal(torch.get_rng_state(), before)
    np.testing.assert_array_equal(one, other)
    assert (one != third).all()
    assert (one.shape, one.dtype) == ((8,), np.float32)
