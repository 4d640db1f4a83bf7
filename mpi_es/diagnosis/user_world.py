"""The doctor's checks of a user's world, first in a process of its own, which a wrong index may end."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import closing, redirect_stdout
from typing import Any, NamedTuple

import numpy as np

from mpi_es.envs import is_vectorised, make
from mpi_es.worlds.refused import mistake

_EPISODES, _STEPS = 5, 200
_PATIENCE = 300  # seconds; compilation alone may take a minute on a busy machine
_INDICES = "compare its indices with the sizes in fresh and observation_space"
_MANY = 100  # environments: far more than a call has arguments


class Complaint(NamedTuple):
    """What is wrong with a world."""

    seen: str
    remedy: str


def of_user(name: str, options: Sequence[str]) -> Any:
    """Return the world of that name if it is a user's, else None; refuse one that numba does not compile."""
    if is_vectorised(name) or ":" not in name:
        return None
    with closing(make(name, options)[0]) as env:
        world: Any = getattr(env, "world", None) if getattr(env, "compiled", False) else None
    if not hasattr(world, "fresh"):
        return None
    if error := mistake(world):
        raise error
    return world


def stray(name: str, options: Sequence[str]) -> Complaint | None:
    """Return what goes wrong when a world runs with checked indices, in another process;
    None if nothing does.
    """
    with tempfile.TemporaryDirectory() as cache:
        environ = os.environ | {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": cache}
        command = [sys.executable, "-m", __name__, name, *options]
        try:
            done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=_PATIENCE)
        except subprocess.TimeoutExpired:
            steps = f"{_EPISODES} episodes of at most {_STEPS} steps take more than {_PATIENCE} s"
            return Complaint(steps, "look for a loop that never ends")
    if done.returncode < 0:
        return Complaint(f"signal {-done.returncode} ends its process", "look for an endless recursion")
    seen, _, remedy = done.stdout.partition("\n")
    return Complaint(seen, remedy) if seen else None


def wasteful(world: Any) -> Complaint | None:
    """Return a complaint if a step of a world allocates arrays."""
    from numba.core.runtime import _nrt_python, rtsys

    from mpi_es.worlds.vector_env import WorldVectorEnv

    _nrt_python.memsys_enable_stats()
    vector = WorldVectorEnv(world, num_envs=_MANY)
    actions = vector.action_space.sample()
    vector.reset(seed=0)
    before = rtsys.get_allocation_stats().alloc
    vector.step(actions)
    # numba makes some for the arguments of the call, fewer than there are environments.
    count = int(rtsys.get_allocation_stats().alloc - before) // _MANY
    if not count:
        return None
    arrays = "an array" if count == 1 else f"{count} arrays"
    return Complaint(
        f"a step makes {arrays}, which costs time", "keep the arrays in fresh, and write to them"
    )


def _play(world: Any) -> Complaint | None:
    """Return what goes wrong in episodes of random actions; None if nothing does."""
    from mpi_es.worlds.world import functions, new_state

    state = new_state(world)
    reset, step, observe = functions(world)
    space: Any = world.observation_space
    zeros, ones = np.zeros(space.shape, space.dtype), np.ones(space.shape, space.dtype)
    world.action_space.seed(0)
    try:
        for seed in range(_EPISODES):
            part = "reset"
            reset(state, seed)
            for _ in range(_STEPS):
                part = "observe"
                for out in (zeros, ones):
                    observe(state, out)
                part = "step"
                if step(state, world.action_space.sample())[1]:
                    break
    except IndexError:
        return Complaint(f"{part} reads or writes beyond the end of an array", _INDICES)
    except Exception:  # the caller plays it too, and reports it with its episode
        return None
    if left := int(((zeros == 0) & (ones == 1)).sum()):
        return Complaint(f"observe leaves {left} of {zeros.size} numbers unwritten", _INDICES)
    if (~np.isnan(zeros) & (zeros != ones)).any():
        return Complaint("observe writes other numbers if it is called again", "draw in reset and step only")
    return None


if __name__ == "__main__":
    with redirect_stdout(sys.stderr), closing(make(sys.argv[1], sys.argv[2:])[0]) as made:
        found = _play(made.world)  # the user's code may print
    print(*(found or ()), sep="\n", end="")
