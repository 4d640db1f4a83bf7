"""A Gaussian process over hyperparameters that forgets (TV-GP-UCB: Bogunovic et al. 2016).

Inputs are rows (k, 1 + d): a generation, then d numbers in [0, 1].
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float64]

# Kernels to choose from. Values have a deviation of 1, so a noise variance of 1 means noise only.
_LENGTHS = (0.1, 0.2, 0.4, 0.8, 1.6)
_FORGETTINGS = (0.0, 0.05, 0.2, 0.5)
_NOISES = (0.01, 0.1, 0.5, 1.0)


@dataclass(frozen=True)
class Kernel:
    """k = exp(-|x - x'|^2 / 2 length^2) (1 - forgetting)^(|t - t'| / 2), and the noise variance."""

    length: float
    forgetting: float
    noise: float

    def __call__(self, a: Rows, b: Rows) -> Rows:
        """Return the covariances (len(a), len(b)) without noise."""
        apart = a[:, None] - b[None]
        distance = (apart[..., 1:] ** 2).sum(axis=-1)
        between: Rows = np.exp(-distance / (2 * self.length**2))
        return between * (1 - self.forgetting) ** (np.abs(apart[..., 0]) / 2)


class Process:
    """The process given noisy values (k,) at rows (k, 1 + d); its prior mean is 0, its prior variance 1."""

    def __init__(self, kernel: Kernel, rows: Rows, values: Rows) -> None:
        self.kernel, self.rows = kernel, rows
        self.factor = np.linalg.cholesky(kernel(rows, rows) + kernel.noise * np.eye(len(rows)))
        self.whitened = np.linalg.solve(self.factor, values)

    @property
    def log_likelihood(self) -> float:
        """The log-likelihood of the values, without its constant."""
        return float(-0.5 * (self.whitened**2).sum() - np.log(np.diag(self.factor)).sum())

    def predict(self, rows: Rows) -> tuple[Rows, Rows]:
        """Return means and variances at rows."""
        whitened = np.linalg.solve(self.factor, self.kernel(self.rows, rows))
        return whitened.T @ self.whitened, np.maximum(1 - (whitened**2).sum(axis=0), 0)


def fitted(rows: Rows, values: Rows) -> Process:
    """Return the process with the kernel that maximises the likelihood of the values."""
    kernels = (Kernel(*parts) for parts in product(_LENGTHS, _FORGETTINGS, _NOISES))
    return max((Process(kernel, rows, values) for kernel in kernels), key=lambda one: one.log_likelihood)
