import copy

import numpy as np
import pytest
import torch

from mpi_es.errors import UserError
from mpi_es.strategies.optimizers import SGD, Adam, ClipUp, Optimizer, decayed

each = pytest.mark.parametrize("optimizer", [Adam(), SGD(0.9), ClipUp(0.9, 0.0)])


def follow(ours: Optimizer, theirs: torch.optim.Optimizer, parameter: torch.Tensor) -> None:
    """Hold 50 steps of ours against torch's, at a learning rate that changes."""
    memory, draw = ours.start(len(parameter)), np.random.default_rng(0)
    for count in range(50):
        learning_rate = 0.1 * 0.97**count
        gradient, before = draw.standard_normal(len(parameter)), parameter.detach().numpy().copy()
        theirs.param_groups[0]["lr"] = learning_rate
        parameter.grad = torch.from_numpy(gradient)
        theirs.step()
        step, memory = ours.step(memory, gradient, learning_rate)
        assert step.dtype == np.float32
        np.testing.assert_allclose(step, parameter.detach().numpy() - before, rtol=1e-4, atol=1e-7)


def test_adam_is_torchs() -> None:
    parameter = torch.zeros(8, dtype=torch.float64, requires_grad=True)
    follow(Adam(), torch.optim.Adam([parameter], maximize=True), parameter)


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_sgd_is_torchs(momentum: float) -> None:
    parameter = torch.zeros(8, dtype=torch.float64, requires_grad=True)
    follow(SGD(momentum), torch.optim.SGD([parameter], momentum=momentum, maximize=True), parameter)


def test_clipup_written_out() -> None:
    optimizer, gradient = ClipUp(momentum=0.9, max_speed=0.0), np.array([30.0, 40.0])
    first, memory = optimizer.step(optimizer.start(2), gradient, 0.1)
    second, memory = optimizer.step(memory, gradient / 1e6, 0.1)  # the gradient's length means nothing
    third, _ = optimizer.step(memory, gradient, 0.1)
    np.testing.assert_allclose(first, [0.06, 0.08], rtol=1e-6)
    np.testing.assert_allclose(second, 1.9 * first, rtol=1e-6)
    np.testing.assert_allclose(third, 2 * first, rtol=1e-6)  # 2.71 times, clipped to twice the learning rate


def test_clipup_keeps_to_the_maximal_speed_that_it_is_given() -> None:
    optimizer = ClipUp(momentum=0.9, max_speed=0.05)
    step, _ = optimizer.step(optimizer.start(2), np.array([0.0, 7.0]), 0.1)
    np.testing.assert_allclose(step, [0.0, 0.05])


@each
def test_a_gradient_of_zero_moves_nothing(optimizer: Optimizer) -> None:
    step, _ = optimizer.step(optimizer.start(3), np.zeros(3), 0.1)
    np.testing.assert_array_equal(step, np.zeros(3))


@each
def test_a_memory_is_not_changed_by_later_steps(optimizer: Optimizer) -> None:
    _, memory = optimizer.step(optimizer.start(3), np.ones(3), 0.1)
    before = copy.deepcopy(memory)
    optimizer.step(memory, np.arange(3.0), 0.1)
    for name, value in before.items():
        np.testing.assert_array_equal(memory[name], value)


@each
def test_a_memory_of_numpy_scalars_steps_alike(optimizer: Optimizer) -> None:
    """As h5py returns them."""
    _, memory = optimizer.step(optimizer.start(3), np.ones(3), 0.1)
    read = {name: value if np.ndim(value) else np.int64(value) for name, value in memory.items()}
    step, _ = optimizer.step(memory, np.arange(3.0), 0.1)
    again, _ = optimizer.step(read, np.arange(3.0), np.float64(0.1))
    assert again.dtype == step.dtype
    np.testing.assert_array_equal(again, step)


def test_a_schedule_decays_to_its_floor() -> None:
    assert decayed(1.0, 0.5, 0.3) == 0.5
    assert decayed(0.5, 0.5, 0.3) == 0.3


@pytest.mark.parametrize("size", [1e20, 1e40])
def test_adam_refuses_a_gradient_whose_square_single_precision_cannot_hold(size: float) -> None:
    optimizer = Adam()
    with pytest.raises(UserError, match=r"--optimizer adam: expected a gradient below 1e19, got 1e\+"):
        optimizer.step(optimizer.start(2), np.array([1.0, size]), 0.1)
