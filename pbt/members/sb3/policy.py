"""A model of Stable-Baselines3 as a policy of mpi_es, to show one of its episodes."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.policies.base import Actions, Memory, Weights


class ModelPolicy:
    """The part of a Policy that a rollout uses: the model's deterministic actions, in one episode at a time.

    The memory of recurrent models stays here, since it is not an array with a row for each episode.

    Args:
        model: of Stable-Baselines3.
        normalized: normalises observations as in the model's training.
    """

    kernel = None  # it is not compiled
    one_thread = staticmethod(nullcontext)  # the member has set torch's threads

    def __init__(self, model: Any, normalized: Callable[[NDArray[Any]], NDArray[Any]]) -> None:
        self._model, self._normalized = model, normalized
        self._memory: Any = None
        self._starts = np.ones(1, bool)

    @property
    def dim(self) -> int:
        """0: the model has its own parameters."""
        return 0

    def unpack(self, parameters: NDArray[np.float32]) -> Weights:
        """Return no weights: the model has its own."""
        return ()

    def initial_memory(self, k: int) -> Memory:
        """Return None: the memory stays here."""
        return None

    def start(self, episode_seed: int, candidate: int) -> Memory:
        """Begin an episode without memory."""
        self._memory, self._starts = None, np.ones(1, bool)
        return None

    def act(self, weights: Weights, observations: NDArray[Any], memory: Memory) -> tuple[Actions, Memory]:
        """Return the actions (1, …) for the observations (1, …)."""
        seen = self._normalized(observations)
        actions, self._memory = self._model.predict(seen, self._memory, self._starts, deterministic=True)
        self._starts = np.zeros(1, bool)
        return actions, None

    def look(self, observation: NDArray[Any]) -> None:
        """Return None: such a network has no attention."""
        return None
