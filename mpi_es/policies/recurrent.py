"""A recurrent network (rnn, lstm or gru) in numpy, k of them side by side."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Candidate
from mpi_es.config.fields import Of
from mpi_es.errors import expected
from mpi_es.policies import initialisation
from mpi_es.policies.actions import Outputs, actions_for
from mpi_es.policies.base import Memory, Policy, ScaledOptions, split
from mpi_es.policies.features import features_for

Array = NDArray[np.float32]


class Gates(NamedTuple):
    """The parameters of k networks, in torch's flat order; g gates lie one below the other."""

    input: Array  # (k, g * hidden, inputs)
    hidden: Array  # (k, g * hidden, hidden)
    input_bias: Array  # (k, g * hidden, 1)
    hidden_bias: Array  # (k, g * hidden, 1)
    output: Array  # (k, outputs, hidden)
    output_bias: Array  # (k, outputs, 1)


@dataclass(frozen=True)
class RecurrentOptions(ScaledOptions):
    """The cell, by its name, and its width."""

    name: str = "lstm"
    hidden: tuple[int, ...] = (16,)
    """Width of the hidden layer"""
    activation: Annotated[Literal["tanh", "relu"], Of("policy", "rnn")] = "tanh"
    """Activation function of the rnn; lstm and gru have their own"""

    def __post_init__(self) -> None:
        """Refuse values that no network can have."""
        super().__post_init__()
        self.check_one_layer()
        if self.name != "rnn" and self.activation != "tanh":
            raise expected("--activation", f"tanh for --policy {self.name}", self.activation)


class Recurrent(Policy):
    """One layer of torch's nn.RNN, nn.LSTM or nn.GRU, then a linear one.

    The memory's rows are the hidden state (hidden,), for an lstm followed by its cell (hidden,).
    """

    Options = RecurrentOptions

    def __init__(self, options: RecurrentOptions, observation_space: Any, action_space: Any) -> None:
        cell, hidden = options.name, options.hidden[0]
        self.inputs, self.features = features_for(observation_space, cell)
        self.outputs_size, self.to_actions = actions_for(action_space, options.output, cell)
        self.cell, self.hidden, self.activation = cell, hidden, options.activation
        self._init_last_layer = options.init_last_layer
        self._init_outputs = initialisation.biases(options.init_outputs, self.outputs_size)
        name = f"rnn-{options.activation}" if cell == "rnn" else cell
        self._gates, self._states, self._step = _CELLS[name]
        height = self._gates * hidden
        self.shapes = {
            "cell.weight_ih_l0": (height, self.inputs),
            "cell.weight_hh_l0": (height, hidden),
            "cell.bias_ih_l0": (height,),
            "cell.bias_hh_l0": (height,),
            "out.weight": (self.outputs_size, hidden),
            "out.bias": (self.outputs_size,),
        }

    def initial(self, seed: int) -> Candidate:
        """Return what torch draws from the seed, (dim,), but for the last layer's factor and first biases."""
        cell = initialisation.recurrent(self._gates, self.inputs, self.hidden)
        outputs = initialisation.linear(self.hidden, self.outputs_size, scale=self._init_last_layer)
        drawn = initialisation.draw(seed, [*cell, *outputs])
        return initialisation.ending_with(self._init_outputs, drawn)

    def module(self) -> Any:
        """Return the RecurrentNetwork, which reads features (k, inputs)."""
        from mpi_es.policies import networks  # torch: a second and 200 MB

        return networks.RecurrentNetwork(
            self.cell, self.activation, self.inputs, self.hidden, self.outputs_size
        )

    def unpack(self, parameters: Array) -> Gates:
        """Return the parts of parameters (k, dim)."""
        return Gates(*split(parameters, self.shapes).values())

    def initial_memory(self, k: int) -> Memory:
        """Return zeros (k, hidden), for an lstm (k, 2 * hidden)."""
        return np.zeros((k, self._states * self.hidden), np.float32)

    def outputs(self, weights: Gates, observations: NDArray[Any], memory: Memory) -> tuple[Outputs, Memory]:
        """Return the outputs (k, n) before they become actions, and the memory afterwards."""
        assert memory is not None
        # Matrix-vector products: the last bit of a network's does not depend on the other networks.
        hidden = memory[:, : self.hidden, None]
        from_input = np.matmul(weights.input, self.features(observations)[:, :, None])
        from_input += weights.input_bias
        from_hidden = np.matmul(weights.hidden, hidden)
        from_hidden += weights.hidden_bias
        memory = self._step(from_input[:, :, 0], from_hidden[:, :, 0], memory)
        x = np.matmul(weights.output, memory[:, : self.hidden, None])
        x += weights.output_bias
        return x[:, :, 0], memory


def _rnn_tanh(from_input: Array, from_hidden: Array, memory: Array) -> Array:
    from_input += from_hidden
    return np.tanh(from_input, out=from_input)


def _rnn_relu(from_input: Array, from_hidden: Array, memory: Array) -> Array:
    from_input += from_hidden
    return np.maximum(from_input, 0, out=from_input)


def _lstm(from_input: Array, from_hidden: Array, memory: Array) -> Array:
    n = memory.shape[1] // 2
    gates = from_input  # torch's order: input, forget, cell, output
    gates += from_hidden
    _sigmoid(gates[:, : 2 * n])
    _sigmoid(gates[:, 3 * n :])
    after = np.empty_like(memory)
    hidden, cell = after[:, :n], after[:, n:]
    np.multiply(gates[:, n : 2 * n], memory[:, n:], out=cell)
    cell += gates[:, :n] * np.tanh(gates[:, 2 * n : 3 * n])
    np.multiply(gates[:, 3 * n :], np.tanh(cell), out=hidden)
    return after


def _gru(from_input: Array, from_hidden: Array, memory: Array) -> Array:
    n = memory.shape[1]
    gates = from_input[:, : 2 * n]  # torch's order: reset, update, new
    gates += from_hidden[:, : 2 * n]
    _sigmoid(gates)
    reset, update = gates[:, :n], gates[:, n:]
    new: Array = np.tanh(from_input[:, 2 * n :] + reset * from_hidden[:, 2 * n :])
    new += update * (memory - new)
    return new


def _sigmoid(x: Array) -> None:
    x *= 0.5
    np.tanh(x, out=x)  # where exp would overflow, tanh does not
    x *= 0.5
    x += 0.5


Step = Callable[[Array, Array, Array], Array]

# Gates, states kept in the memory, and the step: parts of input and hidden (k, gates * hidden), memory
# (k, states * hidden) -> memory.
_CELLS: dict[str, tuple[int, int, Step]] = {
    "rnn-tanh": (1, 1, _rnn_tanh),
    "rnn-relu": (1, 1, _rnn_relu),
    "lstm": (4, 2, _lstm),
    "gru": (3, 1, _gru),
}
