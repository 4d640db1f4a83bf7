"""Paint on a band of the window, of which only the changes of colour along its rows are kept.

A row is a bit for each column in which another colour begins, maybe the same one again, and that colour; column
0 and WINDOW_W, where the row ends, always have a bit. Painting a run of any length is a matter of a few words.
"""

import numpy as np

from mpi_es.envs.car_racing.exact.bits import highest, lowest
from mpi_es.envs.car_racing.exact.canvas import EACH, Band, Shapes
from mpi_es.envs.car_racing.shrinking import WINDOW_W
from mpi_es.jit import compiled


@compiled()
def wipe(band: Band, colour: int) -> None:
    """Paint the band with one colour."""
    band.changes[:] = 0
    band.changes[:, 0] = 1
    band.changes[:, WINDOW_W >> 6] = 1 << (WINDOW_W & 63)
    band.colours[:, 0] = colour


@compiled()
def next_change(changes: np.ndarray, x: int) -> int:
    """Return the first column after x in which a colour begins."""
    word, bit = x + 1 >> 6, x + 1 & 63
    later = changes[np.uintp(word)] & -(1 << bit)
    while later == 0:
        word += 1
        later = changes[np.uintp(word)]
    return word << 6 | lowest(later)


@compiled()
def colour_at(changes: np.ndarray, colours: np.ndarray, x: int) -> int:
    """Return the colour of column x: the last that begins there or before."""
    word, bit = x >> 6, x & 63
    earlier = changes[np.uintp(word)] & (2 << bit) - 1
    while earlier == 0:
        word -= 1
        earlier = changes[np.uintp(word)]
    return int(colours[np.uintp(word << 6 | highest(earlier))])


@compiled()
def paint_run(changes: np.ndarray, colours: np.ndarray, begin: int, end: int, colour: int) -> None:
    """Paint the columns from begin to before end, at least one."""
    colours[np.uintp(end)] = colour_at(changes, colours, end)
    colours[np.uintp(begin)] = colour
    first, last = begin >> 6, end >> 6
    begin_bit, end_bit = 1 << (begin & 63), 1 << (end & 63)
    before, after = changes[np.uintp(first)] & begin_bit - 1, changes[np.uintp(last)] & -end_bit
    for word in range(first + 1, last):
        changes[np.uintp(word)] = 0
    changes[np.uintp(last)] = after | end_bit
    changes[np.uintp(first)] = before | begin_bit | (changes[np.uintp(first)] if first == last else 0)


@compiled()
def blend(changes: np.ndarray, colours: np.ndarray, x: int, colour: int, alpha: int) -> None:
    """Move a pixel toward a colour by alpha / 256; it may be outside the window."""
    if alpha == 0 or not 0 <= x < WINDOW_W:
        return
    below = colour_at(changes, colours, x)
    if below != colour:
        paint_run(changes, colours, x, x + 1, (below * (256 - alpha) + colour * alpha) >> 8 & 255 * EACH)


@compiled()
def paint_runs(band: Band, shapes: Shapes, shape: int, first: int, last: int) -> None:
    """Paint a shape's runs on the rows first to last, which are the band's."""
    top, bottom, colour = shapes.top[shape], shapes.bottom[shape], shapes.colour[shape]
    place = shapes.place[shape] - top
    for y in range(max(first, top), min(last, bottom) + 1):
        begin, end = int(shapes.begin[place + y]), int(shapes.end[place + y])
        if begin < end:
            paint_run(band.changes[y - first], band.colours[y - first], begin, end, colour)
