"""What the attention agent sees, with the patches that it chose lit up."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from mpi_es.policies.base import Attention

_BRIGHTEST = 0.85  # of the most important patch: what lies under it stays visible


def spotlight(observation: NDArray[np.uint8], attention: Attention, factor: int) -> Image.Image:
    """Return the observation (size, size, 3), `factor` times larger, under white squares.

    A square is as opaque as its patch is important, beside the most important one.
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
    """Return for each chosen patch (top_k,) its importance beside that of the first."""
    importance = attention.importance[attention.chosen]
    return np.asarray(importance / importance[0], float)
