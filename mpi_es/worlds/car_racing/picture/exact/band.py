"""Paint on a band of the window, kept as the changes of colour along its rows.

A place is a row of the band times STRIDE, plus a column. A place where a colour begins has a bit, and the
colour is stored for it. Columns 0 and WINDOW_W, where a row ends, always have one. Painting a run changes
a few words only, however long it is.
"""

import numpy as np

from mpi_es.jit.bits import highest, lowest
from mpi_es.jit.decorator import compiled
from mpi_es.worlds.car_racing.picture.exact.canvas import BAND, EACH, STRIDE, Band, Shapes
from mpi_es.worlds.car_racing.picture.sizes import WINDOW_W


@compiled(borrowing=True)
def wipe(band: Band, colour: int) -> None:
    """Paint the band with one colour."""
    for word in range(len(band.changes)):
        band.changes[word] = 0
    for row in range(BAND):
        begin, end = row * STRIDE, row * STRIDE + WINDOW_W
        band.changes[begin >> 6], band.changes[end >> 6] = 1 << (begin & 63), 1 << (end & 63)
        band.colours[begin] = colour


@compiled(inline=True)
def next_change(changes: np.ndarray, word: np.uintp, later: int) -> tuple[np.uintp, int, int]:
    """Return the first place where a colour begins, given a word of changes and its remaining bits.

    The first two results are the place's word and the bits that then remain.
    """
    while later == 0:
        word += np.uintp(1)  # unsigned, an index is not tested for being counted from the end
        later = changes[word]
    return word, later, int(word) << 6 | int(lowest(later))


@compiled(inline=True)
def colour_at(changes: np.ndarray, colours: np.ndarray, place: int) -> int:
    """Return the colour of a place: the last that begins there or before."""
    word, bit = np.uintp(place >> 6), place & 63
    earlier = changes[word] & (2 << bit) - 1
    while earlier == 0:
        word -= np.uintp(1)
        earlier = changes[word]
    return int(colours[np.uintp(int(word) << 6 | highest(earlier))])


@compiled(borrowing=True)
def paint_run(changes: np.ndarray, colours: np.ndarray, begin: int, end: int, colour: int) -> None:
    """Paint the places from begin to before end, at least one, of one row."""
    colours[np.uintp(end)] = colour_at(changes, colours, end)
    colours[np.uintp(begin)] = colour
    first, last = np.uintp(begin >> 6), np.uintp(end >> 6)
    begin_bit, end_bit = 1 << (begin & 63), 1 << (end & 63)
    after = changes[last] & -end_bit | end_bit
    before = changes[first] & begin_bit - 1 | begin_bit
    for word in range(first, last):
        changes[np.uintp(word)] = 0
    changes[last] = after
    changes[first] = before | (after if first == last else 0)


@compiled(borrowing=True)
def blend_run(
    changes: np.ndarray, colours: np.ndarray, begin: int, end: int, colour: int, distance: int, step: int
) -> None:
    """Move the pixels from begin to before end toward a line's colour, by how near it is.

    Args:
        distance: from the line to the first pixel, in 1/65536.
        step: its growth from pixel to pixel.
    """
    below = colour_at(changes, colours, begin)
    for place in range(begin, end):
        if not _begin(changes, place):
            below = colours[np.uintp(place)]
        mixed = below * (256 - _alpha(distance)) + colour * _alpha(distance)
        colours[np.uintp(place)] = mixed >> 8 & 255 * EACH
        distance += step
    if _begin(changes, end):
        colours[np.uintp(end)] = below


@compiled()
def _alpha(distance: int) -> int:
    """Return a pixel's share of the line, in 1/256: its weight w of 255, then 255 w / 256, both truncated."""
    near = distance >> 8
    return max(254 - (near ^ near >> 63), 0)


@compiled(inline=True)
def _begin(changes: np.ndarray, place: int) -> bool:
    """Let a colour begin at a place, and return whether none did before."""
    word, bit = np.uintp(place >> 6), 1 << (place & 63)
    before = changes[word]
    changes[word] = before | bit
    return bool(before & bit == 0)


@compiled(borrowing=True)
def paint_runs(band: Band, shapes: Shapes, shape: int, first: int, last: int) -> None:
    """Paint a shape's runs on the rows first to last, which are the band's."""
    top, bottom, colour = shapes.top[shape], shapes.bottom[shape], shapes.colour[shape]
    place = shapes.place[shape] - top
    for y in range(max(first, top), min(last, bottom) + 1):
        begin, end, row = int(shapes.begin[place + y]), int(shapes.end[place + y]), (y - first) * STRIDE
        if begin < end:
            paint_run(band.changes, band.colours, row + begin, row + end, colour)
