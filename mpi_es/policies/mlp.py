"""A multilayer perceptron, k of them side by side; its step is compiled."""

from itertools import accumulate, chain, pairwise, starmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Candidate
from mpi_es.policies import initialisation
from mpi_es.policies.actions import Outputs, actions_for
from mpi_es.policies.base import Memory, Policy, split
from mpi_es.policies.features import features_for
from mpi_es.policies.kernels.layers import aligned, pack
from mpi_es.policies.kernels.mlp import Scratch, act, allocate
from mpi_es.policies.kernels.side_by_side import all_of
from mpi_es.policies.options import MLPOptions


class MLP(Policy):
    """Linear layers with an activation between them, in the flat order of torch's nn.Sequential."""

    kernel = act

    def __init__(self, options: MLPOptions, observation_space: Any, action_space: Any) -> None:
        inputs, self.features = features_for(observation_space, "mlp")
        self.n, self.to_actions = actions_for(action_space, options.output, "mlp")
        self.sizes = (inputs, *options.hidden, self.n)
        self.activation = options.activation
        self._scratch, self._act_all = self.new_scratch(), all_of(act)
        self._init_last_layer = options.init_last_layer
        self._init_outputs = initialisation.biases(options.init_outputs, self.n)
        self.shapes = {}
        for place, (columns, rows) in enumerate(pairwise(self.sizes)):
            # torch numbers the activation after each layer too.
            self.shapes |= {f"{2 * place}.weight": (rows, columns), f"{2 * place}.bias": (rows,)}

    def initial(self, seed: int) -> Candidate:
        """Return torch's draw from the seed (dim,), with --init-last-layer and --init-outputs applied."""
        *hidden, outputs = pairwise(self.sizes)
        layers = chain.from_iterable(starmap(initialisation.linear, hidden))
        last = initialisation.linear(*outputs, scale=self._init_last_layer)
        drawn = initialisation.draw(seed, [*layers, *last])
        return initialisation.ending_with(self._init_outputs, drawn)

    def module(self) -> Any:
        """Return the nn.Sequential, which reads features (k, inputs)."""
        from mpi_es.policies import networks  # torch: a second and 200 MB

        return networks.multilayer(self.sizes, self.activation)

    def new_scratch(self) -> Scratch:
        """Return room for the steps of one network at a time."""
        return allocate(self.sizes, self.activation)

    def unpack(self, parameters: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the layers of parameters (k, dim), laid out for the kernel, (k, numbers)."""
        k, arrays = len(parameters), [*split(parameters, self.shapes).values()]
        widths = [*pairwise(self._scratch.widths.tolist())]
        ends = [*accumulate((inputs + 1) * width for inputs, width in widths)]
        weights = aligned(k, ends[-1])
        layers = np.split(weights, ends[:-1], axis=1)
        for layer, (_, width), matrix, bias in zip(layers, widths, arrays[::2], arrays[1::2], strict=True):
            pack(layer.reshape(k, -1, width), matrix, bias[:, :, 0])
        return weights

    def initial_memory(self, k: int) -> Memory:
        """Return None: it has no memory."""
        return None

    def outputs(
        self, weights: NDArray[np.float32], observations: NDArray[Any], memory: Memory
    ) -> tuple[Outputs, Memory]:
        """Return the outputs (k, n) of the last layer, and no memory."""
        features = self.features(observations)
        outputs = np.empty((len(features), self.n), np.float32)
        self._act_all(weights, features, outputs[:, :0], self._scratch, outputs)
        return outputs, memory
