"""A film of frames: h264 in an mp4, or a gif, by the ffmpeg that imageio-ffmpeg brings."""

import os
import subprocess
from pathlib import Path
from types import TracebackType

import imageio_ffmpeg
from PIL import Image

from mpi_es.errors import UserError, expected

# What a README shows: half the frames and at most 640 pixels wide are a quarter of the bytes. Colours are not
# dithered, since a gif is small where nothing changes; they are those of the first four seconds, since until
# they are known ffmpeg keeps all frames in memory.
_GIF = (
    "fps=25,scale='min(640,iw)':-1:flags=area,split[all][first];"
    "[first]trim=end_frame=100,palettegen=max_colors=128[colours];[all][colours]paletteuse=dither=none"
)
# 4:2:0 lets browsers play it, an index at the front lets them start at once. 18 is almost lossless.
_MP4 = ["-codec:v", "libx264", "-crf", "18", "-pix_fmt", "yuv420p", "-movflags", "+faststart"]
ENDINGS = {".mp4": _MP4, ".gif": ["-filter_complex", _GIF, "-loop", "0"]}


class Film:
    """A file that takes frames of one size, one after the other, and appears when it is whole.

    Args:
        path: ends in one of ENDINGS.
        fps: frames in a second.
    """

    def __init__(self, path: Path, fps: float) -> None:
        self.path, self.fps = path, fps
        self.fresh = path.with_name(f".{path.stem}.tmp{path.suffix}")  # ffmpeg goes by the ending
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
        """Complete the file, or leave none behind; what a killed process leaves is hidden."""
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
        command += [*ENDINGS[self.path.suffix], f"file:{self.fresh}"]  # a colon in it is no protocol
        return subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)

    def _finish(self, process: "subprocess.Popen[bytes]") -> None:
        """Wait for ffmpeg, and raise its complaint."""
        _, said = process.communicate()
        if process.returncode:
            lines = said.decode(errors="replace").splitlines()
            reason = lines[-1] if lines else f"ffmpeg ended with {process.returncode}"
            raise UserError(f"--video: cannot write {self.path} ({reason})")
