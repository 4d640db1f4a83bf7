"""The digits of gymnasium's score: rendered once by pygame, then placed as pygame's font library does."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled

CHARACTERS = "0123456789-"
MINUS = 10
SIZE = 42  # of gymnasium's font
LONGEST = 5  # characters of a score that are shown
LEAST, MOST = -9999.0, 99999.0  # of LONGEST characters; a race gives 1000 at most and takes 0.1 a step


class Glyphs(NamedTuple):
    """A font of eleven characters."""

    pixels: NDArray[np.uint8]  # (11, widest, box) brightness by column, then row; box is the text's height
    widths: NDArray[np.int64]  # (11,)
    advances: NDArray[np.int64]  # (11, 11) from a character to the one that follows it, in 64ths of a pixel


def render_glyphs() -> Glyphs:
    """Render the characters and measure how far apart they are set."""
    import pygame  # gymnasium's own, needed only here

    pygame.font.init()
    font = pygame.font.Font(pygame.font.get_default_font(), SIZE)
    white, black = (255, 255, 255), (0, 0, 0)
    images = [pygame.surfarray.array3d(font.render(c, True, white, black))[..., 0] for c in CHARACTERS]
    pixels = np.zeros((len(CHARACTERS), max(len(i) for i in images), images[0].shape[1]), np.uint8)
    for glyph, image in zip(pixels, images, strict=True):
        glyph[: len(image)] = image

    def period(text: str) -> int:
        """Return a text's length in 64ths of a pixel: what 64 repetitions add, in pixels."""
        return int(font.size(text * 65)[0] - font.size(text)[0])

    # No pair with "-" is kerned, so a kerned pair's advance is what "-" leaves of a cycle of the three.
    dash = period("-")
    plain = [period(c + "-") - dash for c in CHARACTERS]
    advances = [[period(a + b + "-") - dash - plain[j] for j, b in enumerate(CHARACTERS)] for a in CHARACTERS]
    return Glyphs(pixels, np.array([len(i) for i in images]), np.array(advances))


@compiled()
def spell(number: float, text: NDArray[np.int64]) -> int:
    """Write f"{number:04.0f}" as indices of CHARACTERS, and return its length. Minus zero has a sign, too."""
    value = int(abs(np.rint(min(max(number, LEAST), MOST))))
    negative = math.copysign(1.0, number) < 0
    length = 4 + (value > 9999 or (negative and value > 999))
    for place in range(length - 1, -1, -1):
        text[place] = value % 10
        value //= 10
    if negative:
        text[0] = MINUS
    return length


@compiled()
def typeset(
    number: float, glyphs: Glyphs, middle: int, text: NDArray[np.int64], canvas: NDArray[np.uint8]
) -> None:
    """Draw a number around a middle, white on black, into canvas (pixels, box), column by column."""
    length = spell(number, text)
    pen = 0
    for i in range(1, length):
        pen += glyphs.advances[text[i - 1], text[i]]
    left = middle - ((pen >> 6) + glyphs.widths[text[length - 1]]) // 2
    canvas.fill(0)
    pen = 0
    for i in range(length):
        if i > 0:
            pen += glyphs.advances[text[i - 1], text[i]]
        _stamp(glyphs.pixels[text[i]], left + (pen >> 6), canvas)


@compiled()
def _stamp(glyph: NDArray[np.uint8], left: int, canvas: NDArray[np.uint8]) -> None:
    """Draw a glyph where it is brighter: the boxes of neighbours overlap by a kerned pair's few pixels."""
    for column in range(max(0, -left), min(len(glyph), len(canvas) - left)):
        for row in range(glyph.shape[1]):
            canvas[left + column, row] = max(canvas[left + column, row], glyph[column, row])
