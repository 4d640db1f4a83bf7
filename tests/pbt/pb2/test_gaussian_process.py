import numpy as np
import pytest
from scipy.stats import multivariate_normal

from pbt.pb2.gaussian_process import Kernel, Process, fitted

RNG = np.random.default_rng(0)
ROWS = np.column_stack([[1, 1, 2, 3, 4], RNG.random((5, 2))])
VALUES = RNG.standard_normal(5)
KERNEL = Kernel(0.3, 0.2, 0.1)


def covariance(a, b):
    """The kernel of the paper, written out."""
    squares = ((a[1:] - b[1:]) ** 2).sum()
    return np.exp(-squares / (2 * 0.3**2)) * (1 - 0.2) ** (abs(a[0] - b[0]) / 2)


TABLE = np.array([[covariance(a, b) for b in ROWS] for a in ROWS])


def test_the_kernel_is_that_of_the_paper():
    assert KERNEL(ROWS, ROWS) == pytest.approx(TABLE)


def test_the_likelihood_is_that_of_scipy():
    noisy = TABLE + 0.1 * np.eye(5)
    wanted = multivariate_normal(np.zeros(5), noisy).logpdf(VALUES) + 2.5 * np.log(2 * np.pi)
    assert Process(KERNEL, ROWS, VALUES).log_likelihood == pytest.approx(wanted)


def test_predictions_are_those_of_the_conditional_normal_distribution():
    point = np.array([[5, 0.2, 0.7]])
    near = np.array([covariance(point[0], row) for row in ROWS])
    weights = np.linalg.solve(TABLE + 0.1 * np.eye(5), near)
    mean, variance = Process(KERNEL, ROWS, VALUES).predict(point)
    assert mean == pytest.approx(weights @ VALUES)
    assert variance == pytest.approx(1 - weights @ near)


def test_without_data_it_is_the_prior():
    mean, variance = fitted(np.zeros((0, 3)), np.zeros(0)).predict(ROWS)
    assert (mean.tolist(), variance.tolist()) == ([0] * 5, [1] * 5)


@pytest.mark.parametrize("forgetting", [0.0, 0.5])
def test_the_fit_finds_what_the_values_were_drawn_with(forgetting):
    rng = np.random.default_rng(1)
    rows = np.column_stack([np.repeat(np.arange(10), 8), rng.random((80, 1))])
    kernel = Kernel(0.2, forgetting, 0.01)
    values = np.linalg.cholesky(kernel(rows, rows) + 0.01 * np.eye(80)) @ rng.standard_normal(80)
    assert fitted(rows, values).kernel == kernel
