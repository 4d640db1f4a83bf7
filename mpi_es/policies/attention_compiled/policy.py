"""The self-attention agent as a policy: from flat parameters to the compiled kernel and back."""

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from mpi_es.arrays import Candidate
from mpi_es.errors import expected
from mpi_es.jit.simd import WIDTH
from mpi_es.policies import initialisation
from mpi_es.policies.actions import Outputs, actions_for
from mpi_es.policies.attention_compiled import controller as controllers
from mpi_es.policies.attention_compiled.controller import Controller
from mpi_es.policies.attention_compiled.kernel import Scratch, Weights, act, allocate
from mpi_es.policies.attention_compiled.patches import CHANNELS, PATCH, QUERY_DIM, STRIDE
from mpi_es.policies.base import Attention, Memory, Policy, Shapes, split
from mpi_es.policies.kernels.side_by_side import all_of
from mpi_es.policies.options import AttentionOptions

Array = NDArray[np.float32]

PIXELS = CHANNELS * PATCH**2


class AttentionPolicy(Policy):
    """The same agent as `attention.AttentionAgent`, compiled, for pictures (size, size, 3) of bytes.

    Args:
        size: a multiple of four.
    """

    kernel, squashed = act, True

    def __init__(self, options: AttentionOptions, size: int, action_space: Any) -> None:
        self.options, self.size = options, size
        self.n, self.to_actions = actions_for(action_space, options.output, "attention", squashed=True)
        self._init_outputs = initialisation.biases(options.init_outputs, self.n)
        self.kind = controllers.KINDS[options.controller]
        self.gates = controllers.GATES[self.kind] * options.hidden[0]
        self.shapes = self._attention_shapes() | self._controller_shapes()
        self.scratch, self._act_all = self.new_scratch(), all_of(act)

    def new_scratch(self) -> Scratch:
        """Return room for the steps of one network at a time."""
        return allocate(self.size, self.options.top_k, self.gates, self.options.patch_order == "column")

    def look(self, observation: NDArray[Any]) -> Attention:
        """Return the attention of the network that acted last."""
        return Attention(self.scratch.importance.copy(), self.scratch.chosen.copy(), PATCH, STRIDE)

    def initial(self, seed: int) -> Candidate:
        """Return torch's default initialisation (dim,), drawn from the seed,
        with --init-outputs as last biases.
        """
        options, hidden = self.options, self.options.hidden[0]
        layer = initialisation.linear(PIXELS, options.query_dim, options.bias)
        if self.kind == controllers.MLP:
            first = initialisation.linear(options.num_frames * 2 * options.top_k, hidden)
        else:
            first = initialisation.recurrent(controllers.GATES[self.kind], 2 * options.top_k, hidden)
        last = initialisation.linear(hidden, self.n)
        drawn = initialisation.draw(seed, [*layer, *layer, *first, *last])
        return initialisation.ending_with(self._init_outputs, drawn)

    def module(self) -> Any:
        """Return the AttentionAgent, which reads pictures (k, size, size, 3) of bytes."""
        from mpi_es.policies.attention import AttentionAgent  # torch: a second and 200 MB

        return AttentionAgent(self.options, self.size, self.n)

    def unpack(self, parameters: Array) -> Weights:
        """Return the weights of parameters (k, dim), laid out for the kernel."""
        k, d, parts = len(parameters), self.options.query_dim, split(parameters, self.shapes)
        projection, bias = np.zeros((k, PIXELS, WIDTH), np.float32), np.zeros((k, WIDTH), np.float32)
        # Done here once instead of in each step: dividing pixels by 255 and scores by the root of a patch's
        # width, and changing powers of e to powers of two.
        scale = np.log2(np.e) / np.sqrt(PIXELS)
        projection[:, :, :d] = np.swapaxes(parts["attention.q.weight"] * (scale / 255.0), 1, 2)
        keys = np.swapaxes(parts["attention.k.weight"] * (1 / 255.0), 1, 2)
        projection[:, :, QUERY_DIM : QUERY_DIM + d] = keys
        if self.options.bias:
            bias[:, :d] = parts["attention.q.bias"][:, :, 0] * scale
            bias[:, QUERY_DIM : QUERY_DIM + d] = parts["attention.k.bias"][:, :, 0]
        controller = [part for name, part in parts.items() if name.startswith("controller.")]
        return Weights(projection.reshape(k, -1), bias, self._controller(controller))

    def initial_memory(self, k: int) -> Memory:
        """Return the memory (k, n) at an episode's start, see `controller.control`."""
        if self.kind == controllers.MLP:
            seen = self.options.num_frames * 2 * self.options.top_k
            return np.full((k, seen), controllers.NOTHING_SEEN)
        states = 2 if self.kind == controllers.LSTM else 1
        return np.zeros((k, states * self.options.hidden[0]), np.float32)

    def outputs(self, weights: Weights, observations: NDArray[Any], memory: Memory) -> tuple[Outputs, Memory]:
        """Return the outputs (k, n) in [-1, 1], and the memory afterwards."""
        assert memory is not None
        memory, outputs = memory.copy(), np.empty((len(observations), self.n), np.float32)
        self._act_all(weights, np.ascontiguousarray(observations), memory, self.scratch, outputs)
        return outputs, memory

    def _attention_shapes(self) -> Shapes:
        width = self.options.query_dim
        biases = {"bias": (width,)} if self.options.bias else {}
        layer = {"weight": (width, PIXELS)} | biases
        return {f"attention.{key}.{name}": shape for key in "qk" for name, shape in layer.items()}

    def _controller_shapes(self) -> Shapes:
        height, inputs, hidden = self.gates, 2 * self.options.top_k, self.options.hidden[0]
        if self.kind == controllers.MLP:
            shapes = {"fc1.weight": (height, self.options.num_frames * inputs), "fc1.bias": (height,)}
            last = "fc2"
        else:
            shapes = {"cell.weight_ih_l0": (height, inputs), "cell.weight_hh_l0": (height, hidden)}
            shapes |= {"cell.bias_ih_l0": (height,), "cell.bias_hh_l0": (height,)}
            last = "fc"
        shapes |= {f"{last}.weight": (self.n, hidden), f"{last}.bias": (self.n,)}
        return {f"controller.{name}": shape for name, shape in shapes.items()}

    def _controller(self, parts: list[Array]) -> Controller:
        """Return the controller from its parameters in torch's order, each (k, rows, columns)."""
        first, *between, output, output_bias = parts
        recurrent = self.kind != controllers.MLP
        hidden = between.pop(0) if recurrent else first[:, :, :0]
        # torch has one for the inputs and one for the hidden state.
        bias = sum(part[:, :, 0] for part in between)
        matrices = [np.ascontiguousarray(np.swapaxes(m, 1, 2)) for m in (first, hidden, output)]
        biases = [np.ascontiguousarray(b, np.float32) for b in (bias, output_bias[:, :, 0])]
        return Controller(self.kind, matrices[0], matrices[1], biases[0], matrices[2], biases[1])


def size_of(space: Any) -> int:
    """Return the size of square pictures of bytes; refuse other observations."""
    rule = f"pictures (size, size, {CHANNELS}) of bytes for --policy attention"
    if not isinstance(space, spaces.Box) or space.dtype != np.uint8 or len(space.shape) != 3:
        raise expected("--env", rule, space)
    size = int(space.shape[0])
    if space.shape != (size, size, CHANNELS):
        raise expected("--env", rule, space.shape)
    return size
