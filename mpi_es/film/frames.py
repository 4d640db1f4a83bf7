"""Every frame of an episode as a picture, and frames.h5 with its numbers beside them."""

from pathlib import Path
from typing import Any

import h5py
import numpy as np
from PIL import Image

from mpi_es.errors import UserError, one_line
from mpi_es.film.record import Step

NAME = "frames.h5"


class Frames:
    """A directory with frame_00000.png and so on, one for each step."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.count = 0
        self.pixels: dict[str, int] = {}
        self.rows: dict[str, list[Any]] = {"actions": [], "rewards": []}

    def add(self, frame: Image.Image, step: Step) -> None:
        """Write a frame, and keep the numbers of its step."""
        path = self.directory / f"frame_{self.count:05d}.png"
        try:
            frame.save(path)
        except OSError as error:
            raise _unwritable(path, error) from error
        self.count += 1
        self.rows["actions"].append(step.action)
        self.rows["rewards"].append(step.reward)
        if step.attention is not None:
            look = step.attention
            self.rows.setdefault("importances", []).append(look.importance)
            self.rows.setdefault("chosen", []).append(look.chosen)
            self.pixels = {"patch": look.patch, "stride": look.stride}

    def finish(self, facts: dict[str, Any]) -> None:
        """Write frames.h5.

        Args:
            facts: attributes that tell what episode it is.
        """
        path = self.directory / NAME
        try:
            with h5py.File(path, "w") as file:
                file.attrs.update(facts | self.pixels)
                for name, rows in self.rows.items():
                    file[name] = np.array(rows)
        except OSError as error:
            raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> UserError:
    return UserError(f"--frames: cannot write {path} ({error.strerror or one_line(error)})")
