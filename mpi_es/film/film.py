"""What `evaluate --video --frames` makes of one episode: a film, and every frame with its numbers."""

import contextlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from mpi_es.config.run import Config
from mpi_es.errors import UserError, expected
from mpi_es.evaluation.rollout import Episode, Terms
from mpi_es.film.encode import ENDINGS, Film
from mpi_es.film.frames import Frames
from mpi_es.film.record import Recorder, Step, make_env
from mpi_es.film.scene import compose
from mpi_es.policies.base import Policy


@dataclass(frozen=True)
class Footage:
    """Where one episode of a config's policy is to be seen."""

    config: Config
    video: str  # the film's path; empty for none
    frames: str  # the directory of pictures and numbers; empty for none

    def check(self) -> None:
        """Refuse paths that cannot be written and environments that cannot be drawn."""
        if self.video:
            if Path(self.video).suffix not in ENDINGS:
                raise expected("--video", f"a file that ends in {' or '.join(ENDINGS)}", self.video)
            if os.path.isdir(self.video):  # pathlib's raises where a directory is closed
                raise expected("--video", "a file", self.video, "it is a directory")
            _try("--video", self.video, Path(self.video).parent)
        if self.frames:
            directory = Path(self.frames)
            _try("--frames", self.frames, directory, make=True)
            if any(directory.iterdir()):
                raise expected("--frames", "a new or an empty directory", self.frames)
        make_env(self.config)[0].close()

    def shoot(self, policy: Policy, episode: Episode, terms: Terms, name: str) -> str:
        """Run the episode, write what is asked for, and return what came of it.

        Args:
            name: what is told of the policy.
        """
        recorder = Recorder(self.config, policy)
        title = f"{self.config.env}, episode seed {episode.seed}; {Path(name).name}"
        pictures = Frames(Path(self.frames)) if self.frames else None
        with Film(Path(self.video), recorder.fps) if self.video else contextlib.nullcontext() as film:

            def show(step: Step) -> None:
                frame = compose(step, title)
                if film is not None:
                    film.add(frame)
                if pictures is not None:
                    pictures.add(frame, step)

            last = recorder.record(episode, terms, show)
        if pictures is not None:
            facts = {"env": self.config.env, "episode_seed": episode.seed, "policy": name}
            pictures.finish(facts)
        places = " and ".join(filter(None, [self.video, self.frames]))
        return f"{places}: episode seed {episode.seed}, return {last.score:.2f}, {last.number} steps"


def _try(name: str, path: str, directory: Path, make: bool = False) -> None:
    """Refuse a path if its directory takes no file."""
    try:
        if make:
            directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise UserError(f"{name}: cannot write {path} ({error.strerror})") from error
