"""From an estimated gradient to a step uphill: the optimizers and schedules of openai_es and pepg.

An optimizer's memory is a dict that is passed in and returned; nothing is changed in place, so a memory once
read stays as it was. Its arrays are in single precision, as in torch: they average gradients whose sampling
error is far above 1e-7. Centres are in double precision; otherwise the small steps of a decayed learning rate
would be rounded away.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Candidate
from mpi_es.config.fields import Alias, AtMost, Decay, Fraction, Needs, NotNegative, Of, Positive
from mpi_es.errors import expected
from mpi_es.strategies.base import Growing, norm

Memory = dict[str, Any]
Gradient = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Options(Growing):
    """Options of strategies that follow a gradient: the shaping of fitness, and the optimizer."""

    shaping: Literal["centered", "log-rank", "standardized", "raw"] = "centered"
    """Transformation of the fitness"""
    optimizer: Literal["adam", "sgd", "clipup"] = "adam"
    """Optimizer that applies the gradient"""
    learning_rate: Annotated[Positive, Alias("--lr")] = 0.01
    """Learning rate of the optimizer"""
    lr_decay: Annotated[Decay, Alias("--decay")] = 1.0
    """Factor on the learning rate after each generation"""
    lr_min: Annotated[NotNegative, AtMost("learning_rate"), Needs("lr_decay")] = 0.0
    """Lower bound of the decaying learning rate"""
    momentum: Annotated[Fraction, Of("optimizer", "sgd", "clipup")] = 0.9
    """Momentum of sgd and clipup"""
    max_speed: Annotated[NotNegative, Of("optimizer", "clipup")] = 0.0
    """Largest norm of a step of clipup; 0: twice the learning rate"""
    weight_decay: NotNegative = 0.0
    """Share of the parameters that is subtracted from sigma times the gradient"""


class Optimizer(Protocol):
    """Turns gradients into steps."""

    def start(self, dim: int) -> Memory:
        """Return the memory before the first step."""
        ...

    def step(self, memory: Memory, gradient: Gradient, learning_rate: float) -> tuple[Candidate, Memory]:
        """Return the step (dim,) to add, which ascends, and the memory after it."""
        ...


@dataclass(frozen=True)
class Adam:
    """Adam (arXiv:1412.6980, algorithm 1)."""

    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = 1e-8

    def start(self, dim: int) -> Memory:
        """Return a memory with a step count of 0 and zero moments."""
        return {"steps": 0, "first": _zeros(dim), "second": _zeros(dim)}

    def step(self, memory: Memory, gradient: Gradient, learning_rate: float) -> tuple[Candidate, Memory]:
        """Step along the mean gradient over the root of its mean square."""
        with np.errstate(over="ignore"):
            g = gradient.astype(np.float32)
        t = int(memory["steps"]) + 1
        m = self.beta_1 * memory["first"] + (1 - self.beta_1) * g
        with np.errstate(over="ignore"):
            v = self.beta_2 * memory["second"] + (1 - self.beta_2) * np.square(g)
        if not np.isfinite(v).all():  # infinite moments would silently end all steps
            largest = float(np.abs(gradient).max())
            hint = "use --shaping centered, or a larger --init-sigma"
            raise expected("--optimizer adam", "a gradient below 1e19", largest, hint)
        # Both moments start at 0, and are corrected for that bias.
        deviation = np.sqrt(v / (1 - self.beta_2**t))
        step = float(learning_rate) / (1 - self.beta_1**t) * m / (deviation + self.epsilon)
        return step, {"steps": t, "first": m, "second": v}


@dataclass(frozen=True)
class SGD:
    """Gradient ascent with torch's momentum: a constant gradient steps by learning rate / (1 - momentum)."""

    momentum: float

    def start(self, dim: int) -> Memory:
        """Return a memory with a velocity of 0."""
        return {"velocity": _zeros(dim)}

    def step(self, memory: Memory, gradient: Gradient, learning_rate: float) -> tuple[Candidate, Memory]:
        """Step along the decaying sum of gradients."""
        velocity = self.momentum * memory["velocity"] + gradient.astype(np.float32)
        return float(learning_rate) * velocity, {"velocity": velocity}


@dataclass(frozen=True)
class ClipUp:
    """ClipUp (arXiv:2008.02387, algorithm 1): steps of a chosen length in the gradient's direction.

    Args:
        max_speed: the largest norm of a step; 0 is twice the learning rate, as the paper advises.
    """

    momentum: float
    max_speed: float

    def start(self, dim: int) -> Memory:
        """Return a memory with a velocity of 0."""
        return {"velocity": _zeros(dim)}

    def step(self, memory: Memory, gradient: Gradient, learning_rate: float) -> tuple[Candidate, Memory]:
        """Add the learning rate in the gradient's direction to the velocity, then clip its norm."""
        # If fitness is flat there is no direction, and a gradient of 0 stays 0.
        direction = (gradient / (norm(gradient) or 1.0)).astype(np.float32)
        velocity = self.momentum * memory["velocity"] + float(learning_rate) * direction
        speed, fastest = norm(velocity), self.max_speed or 2 * float(learning_rate)
        if speed > fastest:
            velocity = velocity * (fastest / speed)
        return velocity, {"velocity": velocity}


def make(options: Options) -> Optimizer:
    """Return the optimizer that the options name."""
    if options.optimizer == "adam":
        return Adam()
    momentum = options.momentum
    return SGD(momentum) if options.optimizer == "sgd" else ClipUp(momentum, options.max_speed)


def decayed(value: float, factor: float, floor: float) -> float:
    """Return the next value of an exponential schedule that stops at its floor."""
    return max(floor, value * factor)


def _zeros(dim: int) -> Candidate:
    return np.zeros(dim, dtype=np.float32)
