"""A recurrent network (rnn, lstm or gru), k of them side by side; its step is compiled."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Candidate
from mpi_es.policies import initialisation
from mpi_es.policies.actions import Outputs, actions_for
from mpi_es.policies.base import Memory, Policy, split
from mpi_es.policies.features import features_for
from mpi_es.policies.kernels.layers import aligned, pack
from mpi_es.policies.kernels.recurrent import GATES, KINDS, STATES, Scratch, act, allocate, sizes_of
from mpi_es.policies.kernels.side_by_side import all_of
from mpi_es.policies.options import RecurrentOptions

Array = NDArray[np.float32]


class Recurrent(Policy):
    """One layer of torch's nn.RNN, nn.LSTM or nn.GRU, then a linear one.

    A row of the memory is the hidden state (hidden,), for an lstm followed by its cell (hidden,).
    """

    kernel = act

    def __init__(self, options: RecurrentOptions, observation_space: Any, action_space: Any) -> None:
        cell, hidden = options.name, options.hidden[0]
        self.inputs, self.features = features_for(observation_space, cell)
        self.n, self.to_actions = actions_for(action_space, options.output, cell)
        self.cell, self.hidden, self.activation = cell, hidden, options.activation
        self._init_last_layer = options.init_last_layer
        self._init_outputs = initialisation.biases(options.init_outputs, self.n)
        kind = KINDS[cell]
        self._gates, self._states = GATES[kind], STATES[kind]
        self._scratch, self._act_all = self.new_scratch(), all_of(act)
        height = self._gates * hidden
        self.shapes = {
            "cell.weight_ih_l0": (height, self.inputs),
            "cell.weight_hh_l0": (height, hidden),
            "cell.bias_ih_l0": (height,),
            "cell.bias_hh_l0": (height,),
            "out.weight": (self.n, hidden),
            "out.bias": (self.n,),
        }

    def initial(self, seed: int) -> Candidate:
        """Return torch's draw from the seed (dim,), with --init-last-layer and --init-outputs applied."""
        cell = initialisation.recurrent(self._gates, self.inputs, self.hidden)
        outputs = initialisation.linear(self.hidden, self.n, scale=self._init_last_layer)
        drawn = initialisation.draw(seed, [*cell, *outputs])
        return initialisation.ending_with(self._init_outputs, drawn)

    def module(self) -> Any:
        """Return the RecurrentNetwork, which reads features (k, inputs)."""
        from mpi_es.policies import networks  # torch: a second and 200 MB

        return networks.RecurrentNetwork(self.cell, self.activation, self.inputs, self.hidden, self.n)

    def new_scratch(self) -> Scratch:
        """Return room for the steps of one network at a time."""
        return allocate(self.cell, self.activation, self.inputs, self.hidden, self.n)

    def unpack(self, parameters: Array) -> Array:
        """Return the layers of parameters (k, dim), laid out for the kernel, (k, numbers)."""
        k, gates, width = len(parameters), self._gates, self._scratch.hidden
        inner, hidden, inner_bias, hidden_bias, last, last_bias = split(parameters, self.shapes).values()
        sizes = sizes_of(self._scratch)
        weights = aligned(k, sum(sizes))
        first, second, third = np.split(weights, np.cumsum(sizes)[:2], axis=1)
        # Each gate is padded to whole vectors.
        for gate in range(gates):
            rows = slice(gate * self.hidden, (gate + 1) * self.hidden)
            for layer, matrix, bias in ((first, inner, inner_bias), (second, hidden, hidden_bias)):
                columns = layer.reshape(k, -1, gates, width)[:, :, gate]
                pack(columns, matrix[:, rows], bias[:, rows, 0])
        pack(third.reshape(k, -1, self._scratch.outputs), last, last_bias[:, :, 0])
        return weights

    def initial_memory(self, k: int) -> Memory:
        """Return zeros (k, hidden), for an lstm (k, 2 * hidden)."""
        return np.zeros((k, self._states * self.hidden), np.float32)

    def outputs(self, weights: Array, observations: NDArray[Any], memory: Memory) -> tuple[Outputs, Memory]:
        """Return the outputs (k, n) before they become actions, and the memory afterwards."""
        assert memory is not None
        memory, outputs = memory.copy(), np.empty((len(observations), self.n), np.float32)
        self._act_all(weights, self.features(observations), memory, self._scratch, outputs)
        return outputs, memory
