"""A frame of a video: the environment's picture, what the attention agent sees, and the score."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from mpi_es.film.record import Step
from mpi_es.policies.base import Attention

_GROUND, _TEXT, _FAINT = "#14181d", "#f4f4f4", "#97a1ab"
_LEGEND = "white squares: the patches that the network reads, brighter where more important"
_WIDTH = 480  # pixels: narrower pictures are enlarged to at least this, by a whole factor, or text is cut off
_SEEN = 576  # what the attention agent sees is enlarged by a whole factor up to this
_BRIGHTEST = 0.85  # opacity of the most important patch, under which the picture stays visible
_MARGIN, _STRIP = 20, 120
_SMALL, _LARGE = ImageFont.load_default(15), ImageFont.load_default(38)


def compose(step: Step, title: str) -> Image.Image:
    """Return the frame of a step; its width and height are even, as video needs them."""
    picture = _enlarged(Image.fromarray(step.picture))
    if step.attention is None:
        frame = _canvas(picture.width, picture.height + _STRIP)
        frame.paste(picture, (0, 0))
        _write(frame, (0, picture.height), step, [title])
        return frame
    seen = spotlight(step.observation, step.attention, max(1, _SEEN // len(step.observation)))
    frame = _canvas(seen.width + picture.width, max(seen.height, picture.height + _STRIP))
    frame.paste(seen, (0, 0))
    frame.paste(picture, (seen.width, 0))
    _write(frame, (seen.width, picture.height), step, [title, _LEGEND])
    return frame


def _write(frame: Image.Image, corner: tuple[int, int], step: Step, lines: list[str]) -> None:
    """Write score and step, and below them the lines."""
    draw = ImageDraw.Draw(frame)
    left, top = corner[0] + _MARGIN, corner[1] + _MARGIN
    for x, label, number in ((left, "score", f"{step.score:.1f}"), (left + 180, "step", f"{step.number}")):
        draw.text((x, top + 12), label, _FAINT, _SMALL, anchor="ls")
        draw.text((x, top + 52), number, _TEXT, _LARGE, anchor="ls")
    for row, line in enumerate(lines):
        draw.text((left, top + 82 + 24 * row), line, _FAINT, _SMALL, anchor="ls")


def _enlarged(picture: Image.Image) -> Image.Image:
    factor = -(-_WIDTH // picture.width)
    return picture.resize((factor * picture.width, factor * picture.height), Image.Resampling.NEAREST)


def _canvas(width: int, height: int) -> Image.Image:
    return Image.new("RGB", (width + width % 2, height + height % 2), _GROUND)


def spotlight(observation: NDArray[np.uint8], attention: Attention, factor: int) -> Image.Image:
    """Return the observation (size, size, 3), `factor` times larger, under white squares.

    The opacity of a square is the importance of its patch, relative to the most important one.
    """
    size, side = len(observation), attention.patch
    opacity = np.zeros((size, size, 1))
    columns = (size - side) // attention.stride + 1
    corners = attention.stride * np.stack(np.divmod(attention.chosen, columns), axis=1)
    shares = _BRIGHTEST * opacities(attention)
    for (top, left), share in zip(corners, shares, strict=True):
        under = opacity[top : top + side, left : left + side]
        np.maximum(under, share, out=under)
    lit = np.rint(observation + opacity * (255.0 - observation)).astype(np.uint8)
    image = Image.fromarray(lit.repeat(factor, axis=0).repeat(factor, axis=1))
    draw = ImageDraw.Draw(image)
    for top, left in corners * factor:
        draw.rectangle((left, top, left + side * factor - 1, top + side * factor - 1), outline="white")
    return image


def opacities(attention: Attention) -> NDArray[np.float64]:
    """Return the importance of each chosen patch (top_k,) relative to that of the first."""
    importance = attention.importance[attention.chosen]
    return np.asarray(importance / importance[0], float)
