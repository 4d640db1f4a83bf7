"""The initial parameters of torch's layers, bit-identical, without torch:
its import costs a second and 200 MB.

Torch draws each number from 24 bits of its Mersenne twister, uniform in [-bound, bound]. Torch's kernels use
a fused multiply-add if the processor has one; here every processor gets that result.
"""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from mpi_es.arrays import Candidate
from mpi_es.errors import expected
from mpi_es.seeds import Stream, rng

Draw = tuple[int, float]  # how many numbers, and their bound


def linear(inputs: int, outputs: int, bias: bool = True, scale: float = 1.0) -> list[Draw]:
    """Return the draws of an nn.Linear, with bounds times `scale`."""
    # torch's kaiming_uniform_(a=sqrt(5)), operation by operation, since the last bit matters.
    gain = math.sqrt(2 / (1 + math.sqrt(5) ** 2))
    weights = (outputs * inputs, scale * (math.sqrt(3) * (gain / math.sqrt(inputs))))
    return [weights, (outputs, scale * (1 / math.sqrt(inputs)))] if bias else [weights]


def recurrent(gates: int, inputs: int, hidden: int) -> list[Draw]:
    """Return the draws of a layer of an nn.RNN, nn.LSTM or nn.GRU."""
    bound = 1 / math.sqrt(hidden)
    height = gates * hidden
    return [(size, bound) for size in (height * inputs, height * hidden, height, height)]


def biases(numbers: Sequence[float], outputs: int) -> Candidate:
    """Return the last layer's initial biases, (outputs,) or none; refuse another count."""
    checked = np.array(numbers, np.float32)
    if len(checked) not in (0, outputs) or not np.isfinite(checked).all():
        rule = f"{outputs} finite numbers, one for each output, or none"
        raise expected("--init-outputs", rule, tuple(numbers))
    return checked


def ending_with(last: Candidate, parameters: Candidate) -> Candidate:
    """Return the parameters with the last ones replaced by `last`."""
    return np.concatenate([parameters[: len(parameters) - len(last)], last])


def draw(seed: int, draws: Iterable[Draw]) -> Candidate:
    """Return the numbers of all draws, concatenated, from the run's seed."""
    twister = np.random.RandomState(torch_seed(seed) & 0xFFFFFFFF)  # torch uses as many bits
    return np.concatenate([_uniform(twister, *each) for each in draws])


def torch_seed(seed: int) -> int:
    """Return the seed of torch's generator in a run with this seed."""
    return int(rng(seed, Stream.INITIAL).integers(2**63))


def _uniform(twister: np.random.RandomState, count: int, bound: float) -> Candidate:
    """Return numbers in [-bound, bound], rounded once."""
    bits = twister.randint(2**32, size=count, dtype=np.uint32) & 0xFFFFFF
    low, width = np.float32(-bound), np.float32(bound) - np.float32(-bound)
    # Exact in float64, as the product has 48 bits and the sum no more.
    exact = bits / 2.0**24 * np.float64(width) + np.float64(low)
    return exact.astype(np.float32)
