"""An augmented Lagrangian: constraints g(x) <= 0 as penalties, whose coefficients adapt.

Atamna, Auger and Hansen, FOGA 2017, hal-01455379. The initial coefficients and the adaptation of mu are not
in the paper but pycma's (cma.constraints_handler.AugmentedLagrangian). Literals are pycma's.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Vector

DAMPING = 5  # of the changes of lambda
LARGEST = 1e100  # of a constraint and a coefficient, so that its square times a coefficient is finite


@dataclass(frozen=True)
class LagrangianState:
    """The coefficients of m constraints, and what their next values depend on."""

    lam: Vector  # (m,) the Lagrange multipliers
    mu: Vector  # (m,) the weights of the squares
    ready: NDArray[np.bool_]  # (m,) whether the initial coefficients are final
    streak: NDArray[np.int64]  # (m,) how many times in a row mu grew; negative: shrank
    recent: Vector  # (n, m) the constraints of the best candidates of the latest generations
    updates: int = 0


class AugmentedLagrangian:
    """The penalties of a search in `dim` parameters under `number` constraints."""

    def __init__(self, dim: int, number: int) -> None:
        self._dim = dim
        zeros = np.zeros(number)
        self.state = LagrangianState(
            zeros, zeros, zeros.astype(np.bool_), zeros.astype(np.int64), np.zeros((0, number))
        )

    def loss(self, values: Vector, constraints: Vector) -> Vector:
        """Return the losses (n,): values (n,) to minimise, plus the penalties of their constraints (n, m)."""
        s, constraints = self.state, _limited(constraints)
        with np.errstate(divide="ignore", invalid="ignore"):  # where mu is 0, the bound is not used
            bounded = np.where(s.mu * constraints < -s.lam, -s.lam / s.mu, constraints)
        penalties = s.lam * bounded + 0.5 * s.mu * bounded**2
        # Not .sum(), whose order depends on the number of constraints.
        added: Vector = values + sum(penalties.T)
        return added

    def update(self, values: Vector, constraints: Vector) -> None:
        """Adapt the coefficients to a generation's values (n,) and constraints (n, m)."""
        constraints = _limited(constraints)
        chosen = constraints[int(np.argmin(self.loss(values, constraints)))]
        penalised = self._are_penalised(constraints)
        if not self.state.ready.all():
            self._begin(values, constraints)
        earlier = self.state.recent[-1:]
        penalised |= self._are_penalised(np.vstack([earlier, chosen]))
        horizon = 5 + self._dim
        self.state = replace(self.state, recent=np.vstack([self.state.recent, chosen])[-horizon:])
        self._adapt(chosen, penalised)

    def _are_penalised(self, constraints: Vector) -> NDArray[np.bool_]:
        """Return which columns of constraints (n, m) affect a loss, (m,)."""
        return np.asarray((self.state.mu * constraints > -self.state.lam).any(axis=0))

    def _begin(self, values: Vector, constraints: Vector) -> None:
        """Set the initial coefficients of constraints that are sometimes violated, from the spreads."""
        s = self.state
        sign = -1 + 2 * np.mean(constraints > 0, axis=0)  # 1: all candidates violate it, -1: none
        chosen = (~s.ready | (s.mu == 0)) & (sign > -0.8)
        if not chosen.any():
            return
        varied, spreads = float(_spread(values)), _spread(constraints)
        # In pycma a plateau makes the coefficients 0, and the constraints have no effect.
        spread = varied or float(np.ptp(values)) or 1.0
        tiny = 1e-11 * (spread + 1)
        new_mu = 2.0 / 5 * spread / self._dim / (spreads + 1e-6 * _spread(constraints**2) + tiny)
        new_lam = spread / (self._dim * spreads + tiny)
        shrinks = (sign <= 0.2) & (s.mu > new_mu)
        new_lam[shrinks] *= new_mu[shrinks] / s.mu[shrinks]
        largest = np.max(np.abs(constraints), axis=0)
        new_mu = np.minimum(20 * new_mu, np.maximum(new_mu, new_lam / (1e-22 + largest)))
        self.state = replace(
            s,
            lam=np.where(chosen, new_lam, s.lam),
            mu=np.where(chosen, new_mu, s.mu),
            ready=s.ready | (chosen & (varied > 0) & ((s.updates > 2 + self._dim) | (np.abs(sign) < 0.8))),
        )

    def _adapt(self, constraints: Vector, penalised: NDArray[np.bool_]) -> None:
        """Move lambda towards the multipliers, and mu so that the best candidates straddle the boundary.

        Args:
            constraints: (m,) of the best candidate.
            penalised: (m,) whether each constraint affected the loss of a candidate.
        """
        s = self.state
        lam, mu, streak = s.lam.copy(), s.mu.copy(), s.streak.copy()
        # Share of the recent best candidates.
        feasible = np.mean((s.recent < 0) + 0.5 * (s.recent == 0), axis=0)
        for i, g in enumerate(constraints):
            if mu[i] == 0:
                continue
            if g * mu[i] > -lam[i] or penalised[i]:
                lam[i] += mu[i] * g / DAMPING
            if lam[i] < 0:  # else it and mu would diverge while the constraint has no effect
                lam[i] = 0.0
                continue
            if g * mu[i] < -lam[i]:
                continue
            if g > 0 or (g * mu[i] > -lam[i] and feasible[i] > 0.95):
                change = 1
            elif g < 0 and feasible[i] < 0.9:
                change = -1
            else:
                continue
            streak[i] = streak[i] + change if change * streak[i] >= 0 else change
            factor = self._factor ** (change * 0.25 * (1 + self._haste(abs(int(streak[i])))))
            mu[i] = min(mu[i] * factor, LARGEST)
        self.state = replace(s, lam=lam, mu=mu, streak=streak, updates=s.updates + 1)

    @property
    def _factor(self) -> float:
        """The factor on mu of four changes."""
        return math.pow(2, 1.0 / 5 / self._dim)

    def _haste(self, times: int) -> float:
        """Return by how much a change of mu is enlarged after so many in a row, at most 4."""
        wait = 2 + len(self.state.mu)  # as in pycma; not in the paper
        return 4 / wait * min(wait, max(0, times - wait))


def _limited(constraints: Vector) -> Vector:
    """Return constraints whose squares are finite."""
    return np.clip(constraints, -LARGEST, LARGEST)


def _spread(values: Vector) -> Vector:
    """Return the interquartile range of values (n, …) over n."""
    low, high = np.percentile(values, [25, 75], axis=0)
    return np.asarray(high - low)
