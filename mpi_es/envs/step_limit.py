"""The steps after which an environment itself cuts an episode."""

from typing import Any

import gymnasium as gym


def own_limit(env: Any) -> int:
    """Return the limit of a user's environment, from a TimeLimit or its spec; 0 is none.

    If a wrapper makes several steps at once, episodes end earlier.
    """
    while not isinstance(env, gym.wrappers.TimeLimit):
        if not hasattr(env, "env"):
            spec = getattr(env, "spec", None)
            if not spec:
                return int(getattr(env, "world_limit", 0))
            # gym.make enforces the limit of its spec by a TimeLimit, which unwrapping removes.
            return max(spec.max_episode_steps or 0, 0) if spec.id not in gym.registry else 0
        env = env.env
    return int(env._max_episode_steps)


def frame_limit(options: dict[str, Any]) -> int:
    """Return the steps after which Atari's own frame limit ends a game; 0 for other environments."""
    frames, skip = options.get("max_num_frames_per_episode"), options.get("frameskip")
    return frames // skip if isinstance(frames, int) and isinstance(skip, int) else 0
