"""How pygame's `smoothscale` shrinks 1000x800 to 96x96: in fixed point, x and then y, always truncating."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.car_racing.picture.sizes import SIDE, WINDOW_H, WINDOW_W

ONE = 1 << 14  # a whole pixel's share


class Axis(NamedTuple):
    """The source pixels of each pixel of the small picture, along one axis."""

    start: NDArray[np.int64]  # (SIDE,) its first whole source pixel
    end: NDArray[np.int64]  # (SIDE,) behind its last whole one; this pixel is shared with the next
    lead: NDArray[np.int64]  # (SIDE,) its share of pixel start - 1
    trail: NDArray[np.int64]  # (SIDE,) its share of pixel end
    reciprocal: int  # 1 / (source pixels per pixel), as a 16-bit fraction


def divide(length: int) -> Axis:
    """Divide an axis of the large picture among SIDE pixels."""
    space = ONE * length // SIDE  # truncated: the 96 pixels end a little before the source does
    rows = []
    start, lead = 0, 0
    for _ in range(SIDE):
        whole = (space - lead - 1) // ONE  # at least a fraction is left for the shared pixel
        trail = space - lead - whole * ONE
        rows.append((start, start + whole, lead, trail))
        start, lead = start + whole + 1, ONE - trail
    columns = np.array(rows, np.int64).T.copy()
    return Axis(columns[0], columns[1], columns[2], columns[3], 0x40000000 // space)


X, Y = divide(WINDOW_W), divide(WINDOW_H)
X_START, X_END, X_LEAD, X_TRAIL, X_RECIPROCAL = X
Y_START, Y_END, Y_LEAD, Y_TRAIL, Y_RECIPROCAL = Y


@compiled(inline=True)
def part(colour: int, share: int) -> Any:
    """Return a pixel's contribution: SSE2 keeps the upper 16 bits of (4 colour) times share."""
    return np.int32(4 * colour * share) >> 16  # fits; numba's int64 would halve the vectors


@compiled(inline=True)
def scaled(total: int, reciprocal: int) -> Any:
    """Return a sum of contributions as a colour."""
    return np.int32(total * reciprocal) >> 16


@compiled()
def shrink_cell(
    pixels: NDArray[np.int32], begin: int, start: int, end: int, lead: int, trail: int, reciprocal: int
) -> Any:
    """Return a pixel of the small picture, from a line that is black except for pixels from `begin` on.

    Args:
        start: the pixel's value in `Axis.start`; likewise end, lead, trail and reciprocal.
    """
    behind, total = begin + len(pixels), 0
    if begin < start <= behind:
        total += part(pixels[start - 1 - begin], lead)
    for i in range(max(start, begin), min(end, behind)):
        total += pixels[i - begin]
    if begin <= end < behind:
        total += part(pixels[end - begin], trail)
    return scaled(total, reciprocal)
