from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image

from mpi_es.errors import UserError
from mpi_es.film.encode import Film

SIZE = (64, 48)


def frame(level):
    return Image.new("RGB", SIZE, (level, 255 - level, 0))


def written(path, count=6, fps=50.0):
    with Film(path, fps) as film:
        for number in range(count):
            film.add(frame(40 * number))
    return path


def test_an_mp4_holds_every_frame(tmp_path):
    reader = imageio_ffmpeg.read_frames(str(written(tmp_path / "film.mp4")))
    about = next(reader)
    assert (about["codec"], about["fps"], about["size"]) == ("h264", 50.0, SIZE)
    assert about["pix_fmt"].startswith("yuv420p")
    centres = [np.frombuffer(image, np.uint8).reshape(48, 64, 3)[24, 32, 0] for image in reader]
    assert np.array(centres, int) == pytest.approx([0, 40, 80, 120, 160, 200], abs=6)


def test_a_gif_holds_every_second_frame_of_50(tmp_path):
    with Image.open(written(tmp_path / "film.gif")) as image:
        assert (image.n_frames, image.size, image.info["duration"]) == (3, SIZE, 40)
        assert "loop" in image.info


def test_only_a_whole_film_appears(tmp_path):
    def broken():
        with Film(tmp_path / "film.mp4", 50.0) as film:
            film.add(frame(0))
            raise ValueError("the episode broke")

    with pytest.raises(ValueError, match="broke"):
        broken()
    assert list(tmp_path.iterdir()) == []


def test_a_colon_in_a_name_is_no_protocol(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert written(Path("seed:7.mp4")).stat().st_size > 0


def test_a_picture_of_another_size_is_refused(tmp_path):
    def grown():
        with Film(tmp_path / "film.mp4", 50.0) as film:
            film.add(frame(0))
            film.add(Image.new("RGB", (64, 49)))

    with pytest.raises(
        UserError, match=r"^--video: expected pictures of one size \(64, 48\), got \(64, 49\)$"
    ):
        grown()
    assert list(tmp_path.iterdir()) == []


def test_what_ffmpeg_complains_of_is_reported_in_one_line(tmp_path):
    with pytest.raises(
        UserError, match=r"^--video: cannot write .*film\.mp4 \(.*No such file.*\)$"
    ) as caught:
        written(tmp_path / "gone" / "film.mp4", 500)
    assert "\n" not in str(caught.value)
