"""CR-FM-NES, the cost-reduced fast moving natural evolution strategy (Nomura and Ono 2022, arXiv:2201.11422).

Candidates are centre + sigma D (I + v v^T)^(1/2) z with a diagonal D and one direction v, as in VD-CMA
(Akimoto, Auger and Hansen, GECCO 2014): time and memory per candidate are proportional to its size.
"""

import math
from dataclasses import dataclass

import numpy as np

from mpi_es import seeds
from mpi_es.arrays import Vector
from mpi_es.errors import expected
from mpi_es.seeds import Stream
from mpi_es.strategies import base
from mpi_es.strategies.base import Dense, Noise, Options, Population, Strategy, check_pairs, norm, row_sum
from mpi_es.strategies.shaping import log_rank

# Largest relative change of D and of v in a generation; larger ones are scaled down. The limit is that of
# pycma's VD-CMA, whose gradients these are. The paper has none: D becomes negative in some runs with few
# parameters, and v explodes on a rotated cigar.
LARGEST_CHANGE = 0.7


@dataclass(frozen=True)
class CRFMNESState:
    """The state of CR-FM-NES between generations; its arrays are replaced, never written to."""

    generation: int
    centre: Vector
    sigma: float
    d: Vector  # the diagonal of D; the determinant of D (I + v v^T)^(1/2) is 1
    v: Vector
    p_sigma: Vector  # evolution path of z, whose length is the speed of the search
    p_c: Vector  # evolution path of the centre, over sigma


class CRFMNES(Strategy):
    """Mirrored pairs from a covariance with one axis and a scale for each parameter."""

    mirrored = True

    def __init__(self, options: Options, x0: Vector, seed: int, noise: Noise) -> None:
        super().__init__(options, x0, seed, noise)
        check_pairs(self.popsize, least=4)  # with one pair the gradients of sigma, D and v are 0
        if len(x0) < 2:  # v and D would be the same
            raise expected("--strategy", "another strategy for a single parameter", "cr_fm_nes")
        n, k = len(x0), self.popsize
        # The paper's constants, for candidates that are all feasible.
        self._mu_eff = 1 / np.square(log_rank(-np.arange(k, dtype=np.float64))).sum()
        self._c_sigma = (self._mu_eff + 2) / (n + self._mu_eff + 5)
        self._c_c = (4 + self._mu_eff / n) / (n + 4 + 2 * self._mu_eff / n)
        # Below five parameters the paper's c_1 is negative, and would unlearn the path instead of learning
        # it.
        self._c_1 = max(0.0, (n - 5) / 6) * 2 / ((n + 1.3) ** 2 + self._mu_eff)
        self._eta_b = math.tanh((min(0.02 * k, 3 * math.log(n)) + 5) / (0.23 * n + 25))
        self._eta_stagnating = math.tanh((0.024 * k + 0.7 * n + 20) / (n + 12))
        self._eta_converging = 2 * math.tanh((0.025 * k + 0.75 * n + 10) / (n + 4))
        self._chi = math.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n))  # the expected |z|
        self._alpha = _distance_weight(n) * min(1.0, math.sqrt(k / n))
        v = seeds.rng(seed, Stream.SAMPLE, 0, 1).standard_normal(n) / math.sqrt(n)
        # The paper begins with D = I. Ours is normalised as later ones are, so that sigma has the same
        # meaning.
        d, zeros = _normalised(np.ones(n), v), np.zeros(n)
        self.state = CRFMNESState(0, x0.astype(np.float64), options.init_sigma, d, v, zeros, zeros)

    def ask(self) -> Population:
        """Return centre + step and centre - step in turn."""
        s = self.state
        rng = seeds.rng(self.seed, Stream.SAMPLE, s.generation)
        z = rng.standard_normal((self.popsize // 2, len(s.centre)))
        steps = s.sigma * s.d * _stretched(z, s.v, 1)
        rows = np.empty((self.popsize, len(s.centre)))
        rows[0::2], rows[1::2] = s.centre + steps, s.centre - steps
        return Dense(rows)

    def tell(self, population: Population, fitness: Vector) -> None:
        """Move the centre, and let sigma, D and v follow the natural gradient of the expected utility."""
        assert isinstance(population, Dense)
        s = self.state
        moves = (population.rows - s.centre) / s.sigma
        y = moves / s.d
        z = _stretched(y, s.v, -1)
        ranked = log_rank(fitness)
        p_sigma = self._moved(s.p_sigma, self._c_sigma, row_sum(ranked - 1 / self.popsize, z))
        eta_sigma, weights = self._speed(norm(p_sigma), ranked, z)
        move = row_sum(weights, moves)
        p_c = self._moved(s.p_c, self._c_c, move)
        of_d, of_v = _natural_gradients(np.vstack([y, p_c / s.d]), s.v)
        rates = np.append(self._eta_b * weights, self._c_1)
        length = norm(s.v)
        d_change, v_change = row_sum(rates, of_d), row_sum(rates, of_v) / length
        largest = max(float(np.abs(d_change).max()), norm(v_change) / length)
        shrink = LARGEST_CHANGE / max(largest, LARGEST_CHANGE)
        d, v = s.d * (1 + shrink * d_change), s.v + shrink * v_change
        growth = row_sum(weights, np.square(z) - 1).mean()
        self.state = CRFMNESState(
            generation=s.generation + 1,
            centre=s.centre + s.sigma * move,
            sigma=max(s.sigma * _exp(eta_sigma / 2 * growth), base.SMALLEST_SIGMA),
            d=_normalised(d, v),
            v=v,
            p_sigma=p_sigma,
            p_c=p_c,
        )

    def _moved(self, path: Vector, rate: float, step: Vector) -> Vector:
        """Return an evolution path after a step."""
        return (1 - rate) * path + math.sqrt(rate * (2 - rate) * self._mu_eff) * step

    def _speed(self, path: float, ranked: Vector, z: Vector) -> tuple[float, Vector]:
        """Return the learning rate of sigma and the weights (popsize,) for a length of the path.

        While the search moves, distant candidates weigh more (DX-NES); while it stagnates, sigma may fall
        fast.
        """
        if path < self._chi:
            eta = self._eta_stagnating if path >= 0.1 * self._chi else self._eta_converging
            return eta, ranked - 1 / self.popsize
        distances = np.sqrt(np.square(z).sum(axis=1))
        weights = ranked * np.exp(self._alpha * (distances - distances.max()))
        return 1.0, weights / weights.sum() - 1 / self.popsize


def _exp(power: float) -> float:
    """Return e to the power, infinity where it is too large: the run then ends in words."""
    return math.exp(power) if power < 700 else math.inf


def _stretched(rows: Vector, v: Vector, power: int) -> Vector:
    """Return (I + v v^T)^(power / 2) rows, (k, dim)."""
    along = (rows * v).sum(axis=1, keepdims=True)
    squared = float(np.square(v).sum())
    return np.asarray(rows + (math.sqrt(1 + squared) ** power - 1) / squared * along * v)


def _normalised(d: Vector, v: Vector) -> Vector:
    """Return D divided by the geometric mean of the axes of D (I + v v^T)^(1/2)."""
    volume = np.log(d).sum() + math.log1p(float(np.square(v).sum())) / 2
    return np.asarray(d / math.exp(volume / len(d)))


def _natural_gradients(y: Vector, v: Vector) -> tuple[Vector, Vector]:
    """Return the natural gradients of log p(y) in D, divided by D, and in v, times |v|, each (k, dim) like y.

    They are those of VD-CMA; alpha keeps the Fisher matrix positive if one parameter dominates v.
    """
    v2 = float(np.square(v).sum())
    u = v / math.sqrt(v2)
    u2, gamma = np.square(u), 1 + v2
    alpha = min(1.0, math.sqrt(v2**2 + (2 * gamma - math.sqrt(gamma)) / u2.max()) / (2 + v2))
    along = (y * u).sum(axis=1, keepdims=True)
    t = along * y - (np.square(along) + gamma) / 2 * u
    s = np.square(y) - v2 / gamma * along * y * u - 1
    s -= alpha / gamma * ((2 + v2) * u * t - v2 * (u * t).sum(axis=1, keepdims=True) * u2)
    # (1 - alpha^2) |v|^4 / (1 + |v|^2), without the difference of two numbers near 1
    beta = max(0.0, 4 - (2 - 1 / math.sqrt(gamma)) / u2.max()) * (v2 / (v2 + 2)) ** 2
    b = 2 * alpha**2 - beta
    inverse = 1 / (2 - (b + 2 * alpha**2) * u2)
    share = b / (1 + b * (np.square(u2) * inverse).sum()) * (s * u2 * inverse).sum(axis=1, keepdims=True)
    s = (s - share * u2) * inverse
    t -= alpha * ((2 + v2) * u * s - (s * u2).sum(axis=1, keepdims=True) * u)
    return s, t


def _distance_weight(dim: int) -> float:
    """Return the h of DX-NES, the root of (1 + h^2) exp(h^2 / 2) = 0.24 (dim + 10), by bisection."""
    low, high = 0.0, 40.0  # the first middle is 20, and exp(20^2 / 2) is 1e87
    for _ in range(64):  # further halvings change no bit
        middle = (low + high) / 2
        too_low = (1 + middle**2) * math.exp(middle**2 / 2) < 0.24 * (dim + 10)
        low, high = (middle, high) if too_low else (low, middle)
    return low
