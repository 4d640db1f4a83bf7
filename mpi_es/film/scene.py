"""A frame of a video: the environment's picture, what the attention agent sees, and the score."""

from PIL import Image, ImageDraw, ImageFont

from mpi_es.film.record import Step
from mpi_es.film.spotlight import spotlight

_GROUND, _TEXT, _FAINT = "#14181d", "#f4f4f4", "#97a1ab"
_LEGEND = "white squares: the patches that the network reads, brighter where more important"
_WIDTH = (
    480  # pixels: narrower pictures are enlarged to this or more, by a whole factor, or words are cut off
)
_SEEN = 576  # what the attention agent sees is enlarged by a whole factor up to this
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
