"""Write frames as a film, an mp4 (h264) or a gif, with the ffmpeg of imageio-ffmpeg."""

import os
import subprocess
from pathlib import Path
from types import TracebackType

import imageio_ffmpeg
from PIL import Image

from mpi_es.errors import UserError, expected

# A gif is for a README: half the frames, at most 640 pixels wide, are a quarter of the bytes. Colours are not
# dithered, since a gif is small where nothing changes. They are those of the first four seconds, since ffmpeg
# keeps all frames in memory until it knows them.
_GIF = (
    "fps=25,scale='min(640,iw)':-1:flags=area,split[all][first];"
    "[first]trim=end_frame=100,palettegen=max_colors=128[colours];[all][colours]paletteuse=dither=none"
)
# Browsers play 4:2:0 only, and start at once if the index is at the front. CRF 18 is almost lossless.
_MP4 = ["-codec:v", "libx264", "-crf", "18", "-pix_fmt", "yuv420p", "-movflags", "+faststart"]
ENDINGS = {".mp4": _MP4, ".gif": ["-filter_complex", _GIF, "-loop", "0"]}


class Film:
    """A film file: it takes frames of one size, and appears when it is complete.

    Args:
        path: ends in one of ENDINGS.
        fps: frames per second.
    """

    def __init__(self, path: Path, fps: float) -> None:
        self.path, self.fps = path, fps
        # ffmpeg chooses the format by the ending.
        self.fresh = path.with_name(f".{path.stem}.tmp{path.suffix}")
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Film":
        return self

    def add(self, frame: Image.Image) -> None:
        """Append a frame."""
        if self.process is None:
            self.size = frame.size
            self.process = self._start(frame.size)
        if frame.size != self.size:
            raise expected("--video", f"pictures of one size {self.size}", frame.size)
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(frame.tobytes())
        except OSError:  # ffmpeg has ended, and printed why
            self._finish(self.process)

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        """Complete the file, or remove it; a killed process leaves only a hidden file."""
        if self.process is None:
            return
        try:
            if kind is None:
                self._finish(self.process)
                os.replace(self.fresh, self.path)
        finally:
            self.process.kill()
            self.process.wait()
            self.fresh.unlink(missing_ok=True)

    def _start(self, size: tuple[int, int]) -> "subprocess.Popen[bytes]":
        raw = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}", "-r", f"{self.fps}"]
        command = [imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-v", "error", *raw, "-i", "-"]
        # So that a colon in it names no protocol.
        command += [*ENDINGS[self.path.suffix], f"file:{self.fresh}"]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)

    def _finish(self, process: "subprocess.Popen[bytes]") -> None:
        """Wait for ffmpeg, and raise its error."""
        _, said = process.communicate()
        if process.returncode:
            lines = said.decode(errors="replace").splitlines()
            reason = lines[-1] if lines else f"ffmpeg ended with {process.returncode}"
            raise UserError(f"--video: cannot write {self.path} ({reason})")
