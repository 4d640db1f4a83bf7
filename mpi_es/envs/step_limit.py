"""The steps after which an episode is cut: as the user, the registry or the environment itself has it."""

from typing import Any

import gymnasium as gym

from mpi_es.errors import expected


def step_limit(steps: object, registered: int) -> int:
    """Return the steps after which an episode is cut; 0 is none.

    Args:
        steps: as the user gives them; None is the registered limit, -1 is none.
        registered: the limit of the environment's id, 0 for none.
    """
    if steps is None:
        return registered
    if not isinstance(steps, int) or isinstance(steps, bool) or not (steps == -1 or steps > 0):
        raise expected("max_episode_steps", "a whole number from 1, or -1", steps)
    return max(steps, 0)


def own_limit(env: Any) -> int:
    """Return the limit that a user's environment brings: of a TimeLimit, or of its spec; 0 is none.

    Where a wrapper makes several steps of one, its episodes end earlier.
    """
    while not isinstance(env, gym.wrappers.TimeLimit):
        if not hasattr(env, "env"):
            # gym.make enforces the limit of its spec by a TimeLimit, which is lost by unwrapping.
            spec = getattr(env, "spec", None)
            return max(spec.max_episode_steps or 0, 0) if spec and spec.id not in gym.registry else 0
        env = env.env
    return int(env._max_episode_steps)


def frame_limit(options: dict[str, Any]) -> int:
    """Return the steps after which Atari's own limit of frames ends a game; 0 for other environments."""
    frames, skip = options.get("max_num_frames_per_episode"), options.get("frameskip")
    return frames // skip if isinstance(frames, int) and isinstance(skip, int) else 0
