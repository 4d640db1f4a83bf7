"""A multilayer perceptron in numpy, k of them side by side."""

from dataclasses import dataclass
from itertools import chain, pairwise, starmap
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Candidate
from mpi_es.policies import initialisation
from mpi_es.policies.actions import Outputs, actions_for
from mpi_es.policies.base import Memory, Policy, ScaledOptions, split
from mpi_es.policies.features import features_for

Layer = tuple[NDArray[np.float32], NDArray[np.float32]]  # weights (k, out, in), biases (k, out, 1)


@dataclass(frozen=True)
class MLPOptions(ScaledOptions):
    """Its layers; without hidden ones it is linear."""

    name: str = "mlp"
    activation: Literal["tanh", "relu", "selu"] = "tanh"
    """Activation function of the hidden layers"""


class MLP(Policy):
    """Linear layers with an activation between them, in the flat order of torch's nn.Sequential."""

    Options = MLPOptions

    def __init__(self, options: MLPOptions, observation_space: Any, action_space: Any) -> None:
        inputs, self.features = features_for(observation_space, "mlp")
        outputs, self.to_actions = actions_for(action_space, options.output, "mlp")
        self.sizes = (inputs, *options.hidden, outputs)
        self.activation = options.activation
        self._activate = _ACTIVATIONS[options.activation]
        self._init_last_layer = options.init_last_layer
        self._init_outputs = initialisation.biases(options.init_outputs, outputs)
        self.shapes = {}
        for place, (columns, rows) in enumerate(pairwise(self.sizes)):
            # Each layer but the last is followed by its activation, which has a number too.
            self.shapes |= {f"{2 * place}.weight": (rows, columns), f"{2 * place}.bias": (rows,)}

    def initial(self, seed: int) -> Candidate:
        """Return what torch draws from the seed, (dim,), but for the last layer's factor and first biases."""
        *hidden, outputs = pairwise(self.sizes)
        layers = chain.from_iterable(starmap(initialisation.linear, hidden))
        last = initialisation.linear(*outputs, scale=self._init_last_layer)
        drawn = initialisation.draw(seed, [*layers, *last])
        return initialisation.ending_with(self._init_outputs, drawn)

    def module(self) -> Any:
        """Return the nn.Sequential, which reads features (k, inputs)."""
        from mpi_es.policies import networks  # torch: a second and 200 MB

        return networks.multilayer(self.sizes, self.activation)

    def unpack(self, parameters: NDArray[np.float32]) -> list[Layer]:
        """Return the layers of parameters (k, dim), first to last."""
        arrays = [*split(parameters, self.shapes).values()]
        return list(zip(arrays[::2], arrays[1::2], strict=True))

    def initial_memory(self, k: int) -> Memory:
        """Return None: it remembers nothing."""
        return None

    def outputs(
        self, weights: list[Layer], observations: NDArray[Any], memory: Memory
    ) -> tuple[Outputs, Memory]:
        """Return the outputs (k, n) of the last layer, and no memory."""
        # A matrix-vector product for each network: its last bit does not depend on the other networks.
        x = self.features(observations)[:, :, None]
        for layer, biases in weights[:-1]:
            x = np.matmul(layer, x)
            x += biases
            self._activate(x)
        layer, biases = weights[-1]
        x = np.matmul(layer, x)
        x += biases
        return x[:, :, 0], memory


def _tanh(x: NDArray[np.float32]) -> None:
    np.tanh(x, out=x)


def _relu(x: NDArray[np.float32]) -> None:
    np.maximum(x, 0, out=x)


_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772, 1.0507009873554805  # arXiv:1706.02515, equation 14


def _selu(x: NDArray[np.float32]) -> None:
    below = np.minimum(x, 0)
    np.exp(below, out=below)
    below -= 1
    below *= _SELU_ALPHA
    np.maximum(x, 0, out=x)
    x += below
    x *= _SELU_SCALE


_ACTIVATIONS = {"tanh": _tanh, "relu": _relu, "selu": _selu}
