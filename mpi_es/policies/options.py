"""The options of policies. Every config has some, so they import neither numba nor torch before `make`."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from mpi_es.config.fields import Count, NotNegative, Of
from mpi_es.config.parts import Named
from mpi_es.errors import expected
from mpi_es.policies.base import Policy


@dataclass(frozen=True)
class Options(Named):
    """The options of every policy."""

    output: Literal["auto", "argmax", "tanh", "clip"] = "auto"
    """From network outputs to actions; auto: argmax for discrete ones, else tanh, scaled to the bounds"""


@dataclass(frozen=True)
class OwnOptions(Options):
    """Options of a policy of your own."""

    policy_options: tuple[str, ...] = ()
    """Keyword arguments of your own policy's constructor: name=value"""


@dataclass(frozen=True)
class NetworkOptions(Options):
    """Options of the built-in networks."""

    hidden: tuple[int, ...] = (64, 64)
    """Widths of the hidden layers; recurrent policies and the attention agent have one layer"""
    init_outputs: Annotated[tuple[float, ...], Of("from_pretrained", "")] = ()
    """Initial biases of the last layer, before any tanh, one for each output; empty: torch's"""

    def __post_init__(self) -> None:
        """Refuse invalid values."""
        super().__post_init__()
        if any(width < 1 for width in self.hidden):
            raise expected("--hidden", "widths above 0, or none for a linear policy", self.hidden)

    def check_one_layer(self) -> None:
        """Refuse any number of hidden layers but one."""
        if len(self.hidden) != 1:
            hint = "for example --hidden 16"
            raise expected("--hidden", f"one width for --policy {self.name}", self.hidden, hint)

    def make(self, observation_space: Any, action_space: Any) -> Policy:
        """Return the policy for the spaces of its environment."""
        raise NotImplementedError


@dataclass(frozen=True)
class ScaledOptions(NetworkOptions):
    """Options of networks whose last layer may start small."""

    init_last_layer: Annotated[NotNegative, Of("from_pretrained", "")] = 1.0
    """Factor on torch's initial parameters of the last layer; 0: outputs start at 0"""


@dataclass(frozen=True)
class MLPOptions(ScaledOptions):
    """The layers of a multilayer perceptron; without hidden layers it is linear."""

    name: str = "mlp"
    activation: Literal["tanh", "relu", "selu"] = "tanh"
    """Activation function of the hidden layers"""

    def make(self, observation_space: Any, action_space: Any) -> Policy:
        """Return the policy for the spaces of its environment."""
        from mpi_es.policies.mlp import MLP

        return MLP(self, observation_space, action_space)


@dataclass(frozen=True)
class RecurrentOptions(ScaledOptions):
    """The cell of a recurrent network, by its name, and its width."""

    name: str = "lstm"
    hidden: tuple[int, ...] = (16,)
    """Width of the hidden layer"""
    activation: Annotated[Literal["tanh", "relu"], Of("policy", "rnn")] = "tanh"
    """Activation function of the rnn; lstm and gru have their own"""

    def __post_init__(self) -> None:
        """Refuse invalid values."""
        super().__post_init__()
        self.check_one_layer()
        if self.name != "rnn" and self.activation != "tanh":
            raise expected("--activation", f"tanh for --policy {self.name}", self.activation)

    def make(self, observation_space: Any, action_space: Any) -> Policy:
        """Return the policy for the spaces of its environment."""
        from mpi_es.policies.recurrent import Recurrent

        return Recurrent(self, observation_space, action_space)


@dataclass(frozen=True)
class AttentionOptions(NetworkOptions):
    """The self-attention agent of arXiv:2003.08165, whose values are the defaults."""

    name: str = "attention"
    hidden: tuple[int, ...] = (16,)
    """Width of the controller's hidden layer"""
    query_dim: Count = 4
    """Width of the queries and keys"""
    bias: bool = True
    """Give the queries and keys a bias"""
    controller: Literal["lstm", "rnn", "mlp"] = "lstm"
    """Controller network: LSTM, or RNN or MLP with ReLU"""
    num_frames: Count = 1
    """Number of latest frames whose patches the mlp controller reads"""
    patch_size: Count = 7
    """Side of the patches, in pixels"""
    stride: Count = 4
    """Distance between two patches, in pixels"""
    top_k: Count = 10
    """Number of patches that the controller reads, the most important ones"""
    patch_order: Literal["importance", "column"] = "importance"
    """Order of these patches: the most important first, or from left to right, by column"""

    def __post_init__(self) -> None:
        """Refuse invalid values."""
        super().__post_init__()
        self.check_one_layer()
        if self.num_frames > 1 and self.controller != "mlp":
            raise expected("--num-frames", "1 with a recurrent controller", self.num_frames)

    def make(self, observation_space: Any, action_space: Any) -> Policy:
        """Return the compiled agent, or the one in torch if the options do not allow compilation."""
        from mpi_es.policies.attention_compiled import patches
        from mpi_es.policies.attention_compiled.policy import AttentionPolicy, size_of

        size = size_of(observation_space)
        _check_patches(self, size)
        constants = (self.patch_size, self.stride) == (patches.PATCH, patches.STRIDE)
        if constants and self.query_dim <= patches.QUERY_DIM and size % 4 == 0:
            return AttentionPolicy(self, size, action_space)
        # torch costs seconds and 200 MB
        from mpi_es.policies.attention import InTorch

        return InTorch(self, size, observation_space, action_space)


def _check_patches(options: AttentionOptions, size: int) -> None:
    """Refuse patches that do not fit into pictures of this size."""
    if options.patch_size > size:
        raise expected("--patch-size", f"at most {size}, the picture's size", options.patch_size)
    patches = ((size - options.patch_size) // options.stride + 1) ** 2
    if options.top_k > patches:
        raise expected("--top-k", f"at most {patches}, the number of patches", options.top_k)
