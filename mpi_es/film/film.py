"""Show one episode: a film, frames with their numbers, or a window (`evaluate --video --frames --render`)."""

import contextlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from PIL import Image

from mpi_es.config.run import Config
from mpi_es.errors import UserError, expected, one_line
from mpi_es.evaluation.rollout import Episode, EpisodeRules
from mpi_es.film.encode import ENDINGS, Film
from mpi_es.film.record import Recorder, Step, make_env
from mpi_es.film.scene import compose
from mpi_es.film.window import Window
from mpi_es.policies.base import Policy

FRAMES = "frames.h5"


@dataclass(frozen=True)
class Footage:
    """The files and the window that show one episode of a config's policy."""

    config: Config
    video: str  # the film's path; empty for none
    frames: str  # the directory of pictures and numbers; empty for none
    render: bool = False  # show it in a window

    def check(self) -> None:
        """Refuse paths that cannot be written and environments that cannot be drawn."""
        if self.video:
            if Path(self.video).suffix not in ENDINGS:
                raise expected("--video", f"a file that ends in {' or '.join(ENDINGS)}", self.video)
            if os.path.isdir(self.video):  # pathlib's is_dir raises if a directory cannot be read
                raise expected("--video", "a file", self.video, "it is a directory")
            _try("--video", self.video, Path(self.video).parent)
        if self.frames:
            directory = Path(self.frames)
            _try("--frames", self.frames, directory, make=True)
            if any(directory.iterdir()):
                raise expected("--frames", "a new or an empty directory", self.frames)
        if self.render:
            with Window(""):
                pass
        make_env(self.config)[0].close()

    def shoot(self, policy: Policy, episode: Episode, rules: EpisodeRules, name: str) -> str:
        """Run the episode, write the files, and return a line with the outcome.

        Args:
            name: of the policy, for the title.
        """
        title = f"{self.config.env}, episode seed {episode.seed}; {Path(name).name}"
        pictures = Frames(Path(self.frames)) if self.frames else None
        with contextlib.ExitStack() as stack:
            window = stack.enter_context(Window(title)) if self.render else None
            recorder = Recorder(self.config, policy)  # after the window: it tells SDL to open none
            film = stack.enter_context(Film(Path(self.video), recorder.fps)) if self.video else None

            def show(step: Step) -> None:
                frame = compose(step, title)
                if window is not None:
                    window.add(frame, recorder.fps)
                if film is not None:
                    film.add(frame)
                if pictures is not None:
                    pictures.add(frame, step)

            last = recorder.record(episode, rules, show)
        if pictures is not None:
            facts = {"env": self.config.env, "episode_seed": episode.seed, "policy": name}
            pictures.finish(facts)
        places = " and ".join(filter(None, [self.video, self.frames])) or "shown"
        return f"{places}: episode seed {episode.seed}, return {last.score:.2f}, {last.number} steps"


def _try(name: str, path: str, directory: Path, make: bool = False) -> None:
    """Refuse a path whose directory cannot be written to."""
    try:
        if make:
            directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise UserError(f"{name}: cannot write {path} ({error.strerror})") from error


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
            facts: attributes that identify the episode.
        """
        path = self.directory / FRAMES
        try:
            with h5py.File(path, "w") as file:
                file.attrs.update(facts | self.pixels)
                for name, rows in self.rows.items():
                    file[name] = np.array(rows)
        except OSError as error:
            raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> UserError:
    return UserError(f"--frames: cannot write {path} ({error.strerror or one_line(error)})")
