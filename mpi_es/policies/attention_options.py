"""The self-attention agent of a config: compiled if its options allow it, else in torch."""

from typing import Any

from mpi_es.config.run import Config
from mpi_es.errors import expected
from mpi_es.policies.actions import actions_for
from mpi_es.policies.attention_compiled.patches import PATCH, QUERY_DIM, STRIDE
from mpi_es.policies.attention_compiled.policy import AttentionPolicy, size_of
from mpi_es.policies.base import Policy


def make(config: Config, observation_space: Any, action_space: Any) -> Policy:
    """Return the agent of a config, for the spaces of its environment."""
    if len(config.hidden) != 1:
        hint = "the paper's is --hidden 16"
        raise expected("--hidden", "one width for --policy attention", config.hidden, hint)
    if config.obs_norm:
        raise expected("--obs-norm", "no normalisation of the pictures that --policy attention reads", True)
    size = size_of(observation_space)
    _check_patches(config, size)
    if not _compiles(config, size):
        return _in_torch(config, size, observation_space, action_space)
    return AttentionPolicy(
        observation_space,
        action_space,
        config.hidden[0],
        config.output,
        config.query_dim,
        config.bias,
        config.controller,
        config.num_frames,
        config.init_outputs,
        config.top_k,
        config.patch_order,
    )


def _check_patches(config: Config, size: int) -> None:
    """Refuse patches that no picture of the size has."""
    if config.patch_size > size:
        raise expected("--patch-size", f"at most {size}, the picture's size", config.patch_size)
    patches = ((size - config.patch_size) // config.stride + 1) ** 2
    if config.top_k > patches:
        raise expected("--top-k", f"at most {patches}, the number of patches", config.top_k)


def _compiles(config: Config, size: int) -> bool:
    """Return whether the config's numbers are the constants of the compiled form."""
    same_patches = (config.patch_size, config.stride) == (PATCH, STRIDE)
    return same_patches and config.query_dim <= QUERY_DIM and size % 4 == 0


def _in_torch(config: Config, size: int, observation_space: Any, action_space: Any) -> Policy:
    # torch costs seconds and 200 MB
    from mpi_es.policies.attention import AttentionAgent, InTorch

    outputs, _ = actions_for(action_space, config.output, "attention", squashed=True)

    def network(*_: Any) -> Any:
        return AttentionAgent(
            query_dim=config.query_dim,
            bias=config.bias,
            patch=config.patch_size,
            stride=config.stride,
            top_k=config.top_k,
            patch_order=config.patch_order,
            size=size,
            hidden=config.hidden[0],
            controller=config.controller,
            num_frames=config.num_frames,
            outputs=outputs,
        )

    return InTorch(network, observation_space, action_space, config.output, config.init_outputs)
