import numpy as np
import pytest
import torch

from mpi_es.policies.base import Policy, parts_of, within


def test_parts_are_a_module_s_layers_and_parameters_where_they_lie():
    module = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.LSTM(2, 1))
    shapes = {name: tuple(parameter.shape) for name, parameter in module.named_parameters()}
    parts, vector = parts_of(shapes), torch.nn.utils.parameters_to_vector(module.parameters())
    for name, parameter in module.named_parameters():
        assert torch.equal(vector[parts[name]], parameter.ravel())
    assert (parts["0"], parts["1"]) == (slice(0, 8), slice(8, len(vector)))
    assert list(parts)[:3] == ["0", "0.weight", "0.bias"]


@pytest.mark.parametrize(
    ("name", "part", "inside"),
    [("a.b", "", True), ("a.b", "a", True), ("a.b", "a.b", True), ("ab", "a", False), ("a", "a.b", False)],
)
def test_a_part_is_within_another_by_its_name(name, part, inside):
    assert within(name, part) == inside


class Bare(Policy):
    """A policy that says nothing of what stays fixed, nor where it looks."""


def test_a_policy_is_whole_and_looks_at_everything_unless_it_says_so():
    parameters = np.arange(3, dtype=np.float32)
    assert Bare().whole(parameters) is parameters
    assert Bare().look(parameters) is None
