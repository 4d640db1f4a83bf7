"""The self-attention agent of arXiv:2003.08165: compiled if its options allow it, else in torch."""

from dataclasses import dataclass
from typing import Any, Literal

from mpi_es.config.fields import Count
from mpi_es.errors import expected
from mpi_es.policies.base import NetworkOptions, Policy


@dataclass(frozen=True)
class AttentionOptions(NetworkOptions):
    """The paper's are the defaults."""

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
    """Number of last frames whose patches the mlp controller reads"""
    patch_size: Count = 7
    """Side of the patches, in pixels"""
    stride: Count = 4
    """Distance between two patches, in pixels"""
    top_k: Count = 10
    """Number of patches that the controller reads, the most important ones"""
    patch_order: Literal["importance", "column"] = "importance"
    """Order of these patches: the most important first, or from left to right, by column"""

    def __post_init__(self) -> None:
        """Refuse values that no agent can have."""
        super().__post_init__()
        self.check_one_layer()
        if self.num_frames > 1 and self.controller != "mlp":
            raise expected("--num-frames", "1 with a recurrent controller", self.num_frames)


class Attention:
    """Makes the agent of some options."""

    Options = AttentionOptions

    def __new__(cls, options: AttentionOptions, observation_space: Any, action_space: Any) -> Policy:  # type: ignore[misc]
        """Return the compiled agent, or the one in torch."""
        # numba, which takes its time
        from mpi_es.policies.attention_compiled import patches
        from mpi_es.policies.attention_compiled.policy import AttentionPolicy, size_of

        size = size_of(observation_space)
        _check_patches(options, size)
        constants = (options.patch_size, options.stride) == (patches.PATCH, patches.STRIDE)
        if constants and options.query_dim <= patches.QUERY_DIM and size % 4 == 0:
            return AttentionPolicy(options, size, action_space)
        # torch costs seconds and 200 MB
        from mpi_es.policies.attention import InTorch

        return InTorch(options, size, observation_space, action_space)


def _check_patches(options: AttentionOptions, size: int) -> None:
    """Refuse patches that no picture of the size has."""
    if options.patch_size > size:
        raise expected("--patch-size", f"at most {size}, the picture's size", options.patch_size)
    patches = ((size - options.patch_size) // options.stride + 1) ** 2
    if options.top_k > patches:
        raise expected("--top-k", f"at most {patches}, the number of patches", options.top_k)
