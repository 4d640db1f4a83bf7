"""TakeCover of ViZDoom, as the attention agent's paper plays it (arXiv:2003.08165): survive the fireballs.

A reward of 1 for each tick; 750 counts as solved. Literals are those of the paper's code.
"""

import os
import shlex
import signal
import sys
import weakref
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mpi_es.envs import ends_with_parent
from mpi_es.errors import UserError
from mpi_es.extras import needs
from mpi_es.parallel.stop_signal import CAUGHT

SIDE = 96  # pixels of the picture that the agent sees
THRESHOLD = 1 / 3  # of the action: beyond it the player moves
STAY, RIGHT, LEFT = 0, 1, 2  # ViZDoom's actions

Picture = NDArray[np.uint8]


class TakeCover(gym.Env[Picture, NDArray[np.float32]]):
    """The scenario with pictures (96, 96, 3) and one continuous action: left, stay, right."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 35}  # noqa: RUF012 (gymnasium's own form)

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        self._directory = TemporaryDirectory(prefix="mpi_es-vizdoom-")
        self._game = _open(Path(self._directory.name))
        # Close the game before the directory is removed, also at exit: Doom writes into it when it ends.
        self._end = weakref.finalize(self, self._game.close)
        self._screen = np.zeros((240, 320, 3), np.uint8)
        self.observation_space = gym.spaces.Box(0, 255, (SIDE, SIDE, 3), np.uint8)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Picture, dict[str, Any]]:
        """Begin an episode."""
        super().reset(seed=seed)
        # The first reset starts a process, which inherits blocked signals: those sent to the job are for us.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, CAUGHT)
        try:
            observation, info = self._game.reset(seed=seed)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        return self._picture(observation), info

    def step(self, action: NDArray[np.float32]) -> tuple[Picture, float, bool, bool, dict[str, Any]]:
        """Move for one tick; the reward is 1 if the player survives it."""
        wish = float(action[0])
        button = RIGHT if wish > THRESHOLD else LEFT if wish < -THRESHOLD else STAY
        observation, reward, terminated, truncated, info = self._game.step(button)
        return self._picture(observation), float(reward), terminated, truncated, info

    def render(self) -> Picture:
        """Return the screen (240, 320, 3)."""
        return self._screen

    def close(self) -> None:
        """End ViZDoom."""
        self._end()
        self._directory.cleanup()

    def _picture(self, observation: dict[str, Any]) -> Picture:
        self._screen = observation["screen"]
        small = Image.fromarray(self._screen).resize((SIDE, SIDE), Image.Resampling.BILINEAR)
        return np.array(small)


def _open(directory: Path) -> Any:
    """Return ViZDoom's own environment, which keeps its settings in a file that no other rank writes.

    The process that it starts ends with this one; otherwise a killed rank would leave it behind.
    """
    try:
        import vizdoom
        from vizdoom import gymnasium_wrapper  # noqa: F401 (registers the environment)
    except ImportError as error:
        raise UserError(f"--env: mpi_es/TakeCover-v0 {needs('vizdoom')}") from error
    env: Any = gym.make("VizdoomTakeCover-v1", doom_config_path=str(directory / "vizdoom.ini")).unwrapped
    doom = Path(vizdoom.__file__).parent / "vizdoom"
    if sys.platform == "linux" and doom.exists():
        words = [sys.executable, "-IS", ends_with_parent.__file__, os.getpid(), doom]
        program = directory / "vizdoom"
        program.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, words))} "$@"\n')
        program.chmod(0o700)
        if os.access(program, os.X_OK):  # false if /tmp is mounted noexec
            env.game.set_vizdoom_path(str(program))
    return env
