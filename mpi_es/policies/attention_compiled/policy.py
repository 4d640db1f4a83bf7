"""The self-attention agent as a policy: from flat parameters to the compiled kernel and back."""

from math import prod
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
from mpi_es.policies.attention_compiled.kernel import Scratch, Weights, act_all, allocate
from mpi_es.policies.attention_compiled.patches import CHANNELS, PATCH, QUERY_DIM, STRIDE
from mpi_es.policies.attention_options import AttentionOptions
from mpi_es.policies.base import Attention, Memory, Policy, parts_of

Array = NDArray[np.float32]
Shapes = dict[str, tuple[int, int]]  # rows and columns by torch's names, in torch's order

PIXELS = CHANNELS * PATCH**2


class AttentionPolicy(Policy):
    """What `attention.AttentionAgent` is in torch, for pictures (size, size, 3) of bytes."""

    compiled = True  # the first step takes long

    def __init__(self, options: AttentionOptions, observation_space: Any, action_space: Any) -> None:
        self.size = size_of(observation_space, 4)
        self.hidden, self.query_dim, self.bias = options.hidden[0], options.query_dim, options.bias
        self.controller, self.num_frames = options.controller, options.num_frames
        self.top_k, self.patch_order = options.top_k, options.patch_order
        self.n, self.to_actions = actions_for(action_space, options.output, "attention", squashed=True)
        self._init_outputs = initialisation.biases(options.init_outputs, self.n)
        self.kind = controllers.KINDS[options.controller]
        self.scratch = self.new_scratch()
        self._shapes = self._attention_shapes() | self._controller_shapes()

    def new_scratch(self) -> Scratch:
        """Return room for the steps of one network at a time."""
        gates = controllers.GATES[self.kind] * self.hidden
        return allocate(self.size, self.top_k, gates, self.patch_order == "column")

    def look(self, observation: NDArray[Any]) -> Attention:
        """Return what the network that answered last looked at."""
        return Attention(self.scratch.importance.copy(), self.scratch.chosen.copy(), PATCH, STRIDE)

    @property
    def dim(self) -> int:
        """The number of weights and biases."""
        return sum(map(prod, self._shapes.values()))

    @property
    def parts(self) -> dict[str, slice]:
        """The layers and parameters of the attention and of the controller."""
        return parts_of({name: prod(shape) for name, shape in self._shapes.items() if prod(shape)})

    def initial(self, seed: int) -> Candidate:
        """Return torch's default initialisation, (dim,), drawn from the seed, with the first biases."""
        layer = initialisation.linear(PIXELS, self.query_dim, self.bias)
        last = initialisation.linear(self.hidden, self.n)
        drawn = initialisation.draw(seed, [*layer, *layer, *self._controller_draws(), *last])
        return initialisation.ending_with(self._init_outputs, drawn)

    def module(self) -> Any:
        """Return the AttentionAgent, which reads pictures (k, size, size, 3) of bytes."""
        from mpi_es.policies.attention import AttentionAgent  # torch: a second and 200 MB

        return AttentionAgent(
            query_dim=self.query_dim,
            bias=self.bias,
            top_k=self.top_k,
            patch_order=self.patch_order,
            size=self.size,
            hidden=self.hidden,
            controller=self.controller,
            num_frames=self.num_frames,
            outputs=self.n,
        )

    def unpack(self, parameters: Array) -> Weights:
        """Return the weights of parameters (k, dim), laid out for the kernel."""
        k, d, parts, end = len(parameters), self.query_dim, [], 0
        for rows, columns in self._shapes.values():
            start, end = end, end + rows * columns
            parts.append(parameters[:, start:end].reshape(k, rows, columns))
        q, q_bias, k_, k_bias, *others = parts
        projection, bias = np.zeros((k, PIXELS, WIDTH), np.float32), np.zeros((k, WIDTH), np.float32)
        # Here once instead of in each step: the division of pixels by 255, that of scores by the root of a
        # patch's width, and the change from powers of e to powers of two.
        scale = np.log2(np.e) / np.sqrt(PIXELS)
        projection[:, :, :d] = np.swapaxes(q * (scale / 255.0), 1, 2)
        projection[:, :, QUERY_DIM : QUERY_DIM + d] = np.swapaxes(k_ * (1 / 255.0), 1, 2)
        bias[:, :d] = q_bias[:, 0] * scale if self.bias else 0
        bias[:, QUERY_DIM : QUERY_DIM + d] = k_bias[:, 0] if self.bias else 0
        return Weights(projection.reshape(k, -1), bias, self._controller(others))

    def initial_memory(self, k: int) -> Memory:
        """Return the memory (k, n) at an episode's start, see `controller.control`."""
        if self.kind == controllers.MLP:
            return np.full((k, self.num_frames * 2 * self.top_k), controllers.NOTHING_SEEN)
        states = 2 if self.kind == controllers.LSTM else 1
        return np.zeros((k, states * self.hidden), np.float32)

    def outputs(self, weights: Weights, observations: NDArray[Any], memory: Memory) -> tuple[Outputs, Memory]:
        """Return the outputs (k, n) in [-1, 1], and the memory afterwards."""
        assert memory is not None
        memory, outputs = memory.copy(), np.empty((len(observations), self.n), np.float32)
        act_all(weights, np.ascontiguousarray(observations), memory, self.scratch, outputs)
        return outputs, memory

    def _attention_shapes(self) -> Shapes:
        shapes = {"weight": (self.query_dim, PIXELS), "bias": (int(self.bias), self.query_dim)}
        return {f"attention.{layer}.{name}": shape for layer in "qk" for name, shape in shapes.items()}

    def _controller_shapes(self) -> Shapes:
        height, inputs = controllers.GATES[self.kind] * self.hidden, 2 * self.top_k
        if self.kind == controllers.MLP:
            first = {"fc1.weight": (height, self.num_frames * inputs), "fc1.bias": (1, height)}
            last = "fc2"
        else:
            weights = {"cell.weight_ih_l0": (height, inputs), "cell.weight_hh_l0": (height, self.hidden)}
            first = weights | {"cell.bias_ih_l0": (1, height), "cell.bias_hh_l0": (1, height)}
            last = "fc"
        shapes = first | {f"{last}.weight": (self.n, self.hidden), f"{last}.bias": (1, self.n)}
        return {f"controller.{name}": shape for name, shape in shapes.items()}

    def _controller_draws(self) -> list[initialisation.Draw]:
        """Return the draws of all but the controller's last layer."""
        inputs = 2 * self.top_k
        if self.kind == controllers.MLP:
            return initialisation.linear(self.num_frames * inputs, self.hidden)
        return initialisation.recurrent(controllers.GATES[self.kind], inputs, self.hidden)

    def _controller(self, parts: list[Array]) -> Controller:
        """Return the controller of its parameters in torch's order, (k, rows, columns) each."""
        first, *between, output, output_bias = parts
        recurrent = self.kind != controllers.MLP
        hidden = between.pop(0) if recurrent else first[:, :, :0]
        bias = sum(part[:, 0] for part in between)  # torch gives inputs and hidden state one each
        matrices = [np.ascontiguousarray(np.swapaxes(m, 1, 2)) for m in (first, hidden, output)]
        biases = [np.ascontiguousarray(b, np.float32) for b in (bias, output_bias[:, 0])]
        return Controller(self.kind, matrices[0], matrices[1], biases[0], matrices[2], biases[1])


def size_of(space: Any, step: int = 1) -> int:
    """Return the size of square pictures of bytes, a multiple of `step`; refuse other observations."""
    multiple = f", of a multiple of {step}," if step > 1 else ""
    rule = f"pictures (size, size, {CHANNELS}) of bytes{multiple} for --policy attention"
    if not isinstance(space, spaces.Box) or space.dtype != np.uint8 or len(space.shape) != 3:
        raise expected("--env", rule, space)
    size = int(space.shape[0])
    if space.shape != (size, size, CHANNELS) or size % step:
        raise expected("--env", rule, space.shape)
    return size
