"""What a driver who knows the track senses, and the small network that drives by it."""

import math
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from mpi_es.worlds.car_racing.physics.arrays import Physics
from mpi_es.worlds.car_racing.state import World

STEPS = 1000  # of a drive: gymnasium's limit
AHEAD = 10  # tiles of 3.5 m: as far as the picture shows the road
SENSES = 7 + 2 * AHEAD
HIDDEN, OUTPUTS = 16, 3
SHAPES = ((SENSES, HIDDEN), (1, HIDDEN), (HIDDEN, HIDDEN), (1, HIDDEN), (HIDDEN, OUTPUTS), (1, OUTPUTS))
PARAMETERS = sum(math.prod(shape) for shape in SHAPES)
# The brake begins as good as released, as in carracing-fast: else the car does not leave the start.
FIRST_OUTPUTS = np.array([[0.0, 0.0, -1.5]], np.float32)

compiled = numba.njit(nogil=True, error_model="numpy")
Array = NDArray[np.float32]


class Network(NamedTuple):
    """Two hidden layers of tanh; outputs before a tanh."""

    first: Array  # (SENSES, HIDDEN)
    first_bias: Array
    second: Array  # (HIDDEN, HIDDEN)
    second_bias: Array
    last: Array  # (HIDDEN, OUTPUTS)
    last_bias: Array


def network(parameters: NDArray[np.float64]) -> Network:
    """Return the network of parameters (PARAMETERS,)."""
    ends = np.cumsum([math.prod(shape) for shape in SHAPES])
    pieces = np.split(parameters.astype(np.float32), ends[:-1])
    layers = [np.ascontiguousarray(p.reshape(shape)) for p, shape in zip(pieces, SHAPES, strict=True)]
    layers[-1] = layers[-1] + FIRST_OUTPUTS
    weights, biases = layers[::2], [bias[0] for bias in layers[1::2]]
    return Network(weights[0], biases[0], weights[1], biases[1], weights[2], biases[2])


@compiled
def sense(world: World, physics: Physics, action: NDArray[np.float64], senses: Array) -> None:
    """Write the car's state, its last action, and where the next tiles lie as it sees them.

    The factors bring all numbers to a size of about one.
    """
    x, y, sine, cosine = world.transforms[0]
    nearest, distance = 0, np.inf
    for i in range(world.counts[0]):
        if world.tile[i] >= 0:
            across, along = _middle(world, i)
            square = (across - x) ** 2 + (along - y) ** 2
            if square < distance:
                nearest, distance = i, square
    across, along, turning = world.velocities[0]
    senses[0] = (across * cosine + along * sine) / 50
    senses[1] = (along * cosine - across * sine) / 20
    senses[2] = turning / 2
    senses[3] = physics.on_road.sum() / 4
    senses[4] = action[0]
    senses[5] = action[1] - action[2]
    senses[6] = math.sqrt(distance) / 10
    i = nearest
    for k in range(AHEAD):
        i = _next_tile(world, i)
        across, along = _middle(world, i)
        across, along = across - x, along - y
        senses[7 + 2 * k] = (across * cosine + along * sine) / 15
        senses[8 + 2 * k] = (along * cosine - across * sine) / 15


@compiled
def _middle(world: World, i: int) -> tuple[float, float]:
    """Return the middle of a tile."""
    corners = world.polygons[i]
    return (corners[0, 0] + corners[2, 0]) / 2, (corners[0, 1] + corners[2, 1]) / 2


@compiled
def _next_tile(world: World, i: int) -> int:
    """Return the place of the tile that follows; kerbs lie between the tiles."""
    count = world.counts[0]
    i = (i + 1) % count
    while world.tile[i] < 0:
        i = (i + 1) % count
    return i


@compiled
def answer(network: Network, senses: Array, first: Array, second: Array, outputs: Array) -> None:
    """Write the outputs (OUTPUTS,), before a tanh.

    Args:
        first: room (HIDDEN,).
        second: room (HIDDEN,).
    """
    _layer(network.first, network.first_bias, senses, first)
    _tanh(first)
    _layer(network.second, network.second_bias, first, second)
    _tanh(second)
    _layer(network.last, network.last_bias, second, outputs)


@compiled
def _layer(weights: Array, bias: Array, x: Array, out: Array) -> None:
    for j in range(len(out)):
        out[j] = bias[j]
    for i in range(len(x)):
        for j in range(len(out)):
            out[j] += weights[i, j] * x[i]


@compiled
def _tanh(x: Array) -> None:
    for i in range(len(x)):
        x[i] = math.tanh(x[i])


@compiled
def act(outputs: Array, action: NDArray[np.float64]) -> None:
    """Write steering in [-1, 1], gas and brake in [0, 1] for outputs before a tanh."""
    action[0] = math.tanh(outputs[0])
    action[1] = math.tanh(outputs[1]) / 2 + 0.5
    action[2] = math.tanh(outputs[2]) / 2 + 0.5
