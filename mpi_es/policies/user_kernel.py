"""A user's compiled policy: a class with a kernel, decorated by numba, over named parameters."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numba
import numpy as np
from gymnasium import spaces
from numba.core.dispatcher import Dispatcher
from numpy.typing import NDArray

from mpi_es.arrays import Candidate
from mpi_es.errors import UserError, expected, one_line
from mpi_es.jit.decorator import Compiled, compiled
from mpi_es.policies.actions import Outputs, actions_for
from mpi_es.policies.base import Memory, Policy, Shapes
from mpi_es.policies.kernels.side_by_side import all_of
from mpi_es.seeds import Stream, rng
from mpi_es.worlds.refused import reason
from mpi_es.worlds.user_world import as_compiled

_PARTS = ("shapes", "memory", "initial")


class KernelPolicy(Policy):
    """Calls the kernel `act(weights, observation, memory, outputs)` of a class for one network at a time.

    Args:
        name: of the policy, as the user gave it.
        make: make(observation_space, action_space) returns an object of the class.
        output: from outputs to actions, see `actions_for`.
    """

    def __init__(
        self,
        name: str,
        make: Callable[[Any, Any], Any],
        observation_space: Any,
        action_space: Any,
        output: str,
    ) -> None:
        self.name = f"--policy {name}"
        if not isinstance(observation_space, spaces.Box):
            raise expected("--env", f"observations in a Box for {self.name}", observation_space)
        self.n, self.to_actions = actions_for(action_space, output, name)
        try:
            self._own = make(observation_space, action_space)
        except (Exception, SystemExit) as error:
            raise UserError(f"{self.name}: its constructor failed: {one_line(error)}") from error
        missing = [part for part in _PARTS if not hasattr(self._own, part)]
        if missing:
            raise expected(self.name, f"a class with kernel, {', '.join(_PARTS)}", f"no {missing[0]}")
        kernel = type(self._own).kernel
        if not isinstance(kernel, Dispatcher | Compiled):
            raise expected(self.name, "a kernel decorated with numba.njit", kernel)
        self.kernel = _kernel_of(as_compiled(kernel))
        self._act_all = all_of(self.kernel)
        self.shapes, self._memory = self._checked_shapes(), self._own.memory
        if type(self._memory) is not int or self._memory < 0:
            raise expected(self.name, "a whole number from 0 as memory", self._memory)
        self._record = np.dtype([(part, np.float32, shape) for part, shape in self.shapes.items()])
        self._space, self._reads_vectors = observation_space, len(observation_space.shape) == 1

    def _checked_shapes(self) -> Shapes:
        shapes = self._own.shapes
        try:
            checked = {str(part): tuple(map(int, shape)) for part, shape in shapes.items()}
        except (AttributeError, TypeError, ValueError):
            checked = {}
        if not checked or any(not shape or min(shape) < 1 for shape in checked.values()):
            raise expected(self.name, "shapes as {'name': (rows, columns), …}", shapes)
        return checked

    def initial(self, seed: int) -> Candidate:
        """Return the initial parameters (dim,) that the class draws."""
        try:
            drawn = np.asarray(self._own.initial(rng(seed, Stream.INITIAL)))
        except (Exception, SystemExit) as error:
            raise UserError(f"{self.name}: initial failed: {one_line(error)}") from error
        if drawn.shape != (self.dim,) or drawn.dtype.kind not in "fiu" or not np.isfinite(drawn).all():
            raise expected(self.name, f"{self.dim} finite numbers from initial", drawn)
        return drawn.astype(np.float32)

    def new_scratch(self) -> int:
        """Return 0: a user's kernel has no scratch."""
        return 0

    def unpack(self, parameters: NDArray[np.float32]) -> NDArray[np.void]:
        """Return the parameters (k, dim) as records (k,) of named arrays."""
        return np.array(parameters, np.float32, order="C").view(self._record).reshape(len(parameters))

    def initial_memory(self, k: int) -> NDArray[np.float32]:
        """Return zeros (k, memory)."""
        return np.zeros((k, self._memory), np.float32)

    def outputs(
        self, weights: NDArray[np.void], observations: NDArray[Any], memory: Memory
    ) -> tuple[Outputs, Memory]:
        """Return the outputs (k, n) that the kernel writes for each network, and the memory afterwards."""
        assert memory is not None
        seen = observations.astype(np.float32) if self._reads_vectors else observations
        outputs, after = np.empty((len(seen), self.n), np.float32), memory.copy()
        self._act_all(weights, np.ascontiguousarray(seen), after, self.new_scratch(), outputs)
        return outputs, after

    def mistake(self) -> UserError | None:
        """Return what numba refuses in the kernel; None if it refuses nothing."""
        kind = np.float32 if self._reads_vectors else self._space.dtype
        weights = self.unpack(np.zeros((1, self.dim), np.float32))[0]
        seen, memory = np.zeros(self._space.shape, kind), np.zeros(self._memory, np.float32)
        given = weights, seen, memory, np.zeros(self.n, np.float32)
        try:
            as_compiled(type(self._own).kernel).callee.compile(tuple(map(numba.typeof, given)))
        except Exception as error:
            return UserError(f"{self.name}: numba refuses the kernel: {reason(error, 'shapes')}")
        return None

    def module(self) -> Any:
        """Refuse: there is no torch module."""
        raise UserError(f"{self.name}: expected a torch module, got a kernel; save the agent as .npz")


@cache
def _kernel_of(act: Any) -> Any:
    """Return a kernel with the signature of the built-in policies';
    it passes zeros as outputs to the user's.
    """

    @compiled()
    def kernel(weights: Any, observation: Any, memory: Any, scratch: Any, outputs: Any) -> None:
        for i in range(len(outputs)):
            outputs[i] = 0.0
        act(weights, observation, memory, outputs)

    return kernel
