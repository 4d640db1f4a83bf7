"""The indicator panel: the rows from VIEW_ROWS on and the score in them, bit-identical to gymnasium's.

gymnasium draws at 1000x800 and shrinks that with pygame's `smoothscale`. Since a panel is seven upright bars
and a text, one line is shrunk for every different set of bars, and the text by itself. The loops over a line
and over a column of the text are written so that they run in vectors. Parts that equal the last picture are
not drawn again: bars are compared by their pixels, and the score as it is rounded.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.car_racing import state
from mpi_es.worlds.car_racing.picture.digits import LONGEST, Glyphs, render_glyphs, typeset
from mpi_es.worlds.car_racing.picture.sizes import PANEL_LINES, SIDE, VIEW_ROWS, WINDOW_H, WINDOW_W
from mpi_es.worlds.car_racing.picture.smoothscale import (
    X_END,
    X_LEAD,
    X_RECIPROCAL,
    X_START,
    X_TRAIL,
    Y_END,
    Y_LEAD,
    Y_RECIPROCAL,
    Y_START,
    Y_TRAIL,
    part,
    scaled,
    shrink_cell,
)

S, H = WINDOW_W / 40.0, WINDOW_H / 40.0  # gymnasium's units of the panel, in pixels
TOP = WINDOW_H - PANEL_LINES  # the panel's first line
FIRST_PIXEL: Any = np.int64(0)  # of a line; a literal would make numba compile `shrink_cell` twice

# Speed, the wheels' spin, the steering, the gyroscope: gymnasium's order of drawing
BARS = 7
SPEED, WHEELS, STEERING, GYROSCOPE = 0, 1, 5, 6
PLACES = np.array([5, 7, 8, 9, 10, 20, 30], np.int64)
COLOURS = np.array(
    [(255, 255, 255), (0, 0, 255), (0, 0, 255), (51, 0, 255), (51, 0, 255), (0, 255, 0), (255, 0, 0)],
    np.uint8,
)
LEAST_VALUE = 1e-4  # less is not drawn
# Groups of bars that share no columns: speed, wheels, and those that lie level. Of each its first bar and the
# one behind its last, its first column and the one behind its last.
ZONES = ((SPEED, WHEELS, 12, 16), (WHEELS, STEERING, 16, 28), (STEERING, BARS, 28, SIDE))
LEVEL_FROM = 300  # the pixel from which a level bar lies in the last zone
UNKNOWN = -1  # no bar is there
NO_BARS: Any = np.int64(0)  # numba would compile each function that gets a literal twice

# The text is centred at (60, 750), in front of the first bar, which begins with pixel 125 and column 12.
TEXT_MIDDLE, TEXT_BASE = 60, 750
TEXT_PIXELS, TEXT_COLUMNS = 125, 12


class Panel(NamedTuple):
    """The font, and scratch space."""

    glyphs: Glyphs
    image: NDArray[np.uint8]  # (SIDE - VIEW_ROWS, SIDE * 3) the panel as drawn last
    drawn: NDArray[np.int64]  # (BARS, 4) the bars in it
    score: NDArray[np.float64]  # (1,) the score in it, rounded
    bars: NDArray[np.int64]  # (BARS, 4) first and last pixel, first and last line counted from TOP
    cover: NDArray[np.int64]  # (PANEL_LINES,) the set of bars that cross a line, a bit each
    pixels: NDArray[np.int32]  # (3, WINDOW_W) one line as drawn
    line: NDArray[np.int32]  # (3 * SIDE,) the same, shrunk
    sums: NDArray[np.int32]  # (3 * SIDE,) lines of one row, added
    characters: NDArray[np.int64]  # (LONGEST,)
    text: NDArray[np.uint8]  # (TEXT_PIXELS, box) the text, column by column
    column: NDArray[np.int32]  # (box,) one column of the text, shrunk in x


def allocate() -> Panel:
    """Render the font and return it with scratch space."""
    glyphs = render_glyphs()
    box = glyphs.pixels.shape[2]
    return Panel(
        glyphs=glyphs,
        image=np.zeros((SIDE - VIEW_ROWS, SIDE * 3), np.uint8),
        drawn=np.full((BARS, 4), UNKNOWN),
        score=np.full(1, np.nan),
        bars=np.zeros((BARS, 4), np.int64),
        cover=np.zeros(PANEL_LINES, np.int64),
        pixels=np.zeros((3, WINDOW_W), np.int32),
        line=np.zeros(3 * SIDE, np.int32),
        sums=np.zeros(3 * SIDE, np.int32),
        characters=np.zeros(LONGEST, np.int64),
        text=np.zeros((TEXT_PIXELS, box), np.uint8),
        column=np.zeros(box, np.int32),
    )


@compiled()
def draw_panel(world: state.World, panel: Panel, picture: NDArray[np.uint8]) -> None:
    """Draw the rows from VIEW_ROWS on of the picture (SIDE, SIDE, 3)."""
    _measure(world, panel.bars)
    _update_bars(panel)
    score = np.rint(world.clock[state.SHOWN_REWARD])
    if score != panel.score[0] or math.copysign(1.0, score) != math.copysign(1.0, panel.score[0]):
        panel.score[0] = score  # minus zero is shown with its sign
        typeset(score, panel.glyphs, TEXT_MIDDLE, panel.characters, panel.text)
        _draw_text(panel)
    _copy(panel.image.reshape(-1), picture[VIEW_ROWS:].reshape(-1))


@compiled()
def _copy(source: NDArray[np.uint8], target: NDArray[np.uint8]) -> None:
    for i in range(len(source)):
        target[i] = source[i]


@compiled()
def _update_bars(panel: Panel) -> None:
    """Draw the zones in which a bar changed."""
    bars, drawn = panel.bars, panel.drawn
    if min(bars[STEERING, 0], bars[GYROSCOPE, 0]) < LEVEL_FROM:  # a car that spins as none does on its wheels
        _draw_bars(panel, NO_BARS, BARS, ZONES[0][2], SIDE)
        drawn.fill(UNKNOWN)
        return
    for first, end, column, end_column in ZONES:
        changed = False
        for bar in range(first, end):
            for i in range(4):
                changed |= bars[bar, i] != drawn[bar, i]
                drawn[bar, i] = bars[bar, i]
        if changed:
            _draw_bars(panel, first, end, column, end_column)


@compiled()
def _measure(world: state.World, bars: NDArray[np.int64]) -> None:
    """Find each bar's pixels: gymnasium's `_render_indicators`."""
    vx, vy = np.float64(world.velocities[0, 0]), np.float64(world.velocities[0, 1])
    speed = math.sqrt(vx * vx + vy * vy)
    _upright(bars, SPEED, 0.02 * speed, speed)
    for wheel in range(4):
        omega = world.omega[wheel]
        _upright(bars, WHEELS + wheel, 0.01 * omega, omega)
    steering = np.float64(world.angles[1] - world.angles[0])  # Box2D's joint.angle, subtracted as float32
    _level(bars, STEERING, -10.0 * steering, steering)
    turning = np.float64(world.velocities[0, 2])
    _level(bars, GYROSCOPE, -0.8 * turning, turning)


@compiled()
def _upright(bars: NDArray[np.int64], bar: int, height: float, value: float) -> None:
    """Set a bar that stands on the panel's ground, or hangs from it if negative."""
    end, ground = int(WINDOW_H - (H + H * height)), int(WINDOW_H - H)
    _set(bars[bar], int(PLACES[bar] * S), int((PLACES[bar] + 1) * S), end, ground, value)


@compiled()
def _level(bars: NDArray[np.int64], bar: int, length: float, value: float) -> None:
    """Set a bar that extends to the right of its origin, or to the left if negative."""
    top, bottom = int(WINDOW_H - 4 * H), int(WINDOW_H - 2 * H)
    _set(bars[bar], int(PLACES[bar] * S), int((PLACES[bar] + length) * S), top, bottom, value)


@compiled()
def _set(bar: NDArray[np.int64], x0: int, x1: int, y0: int, y1: int, value: float) -> None:
    """Store a bar, clipped to the panel. In pygame's polygons both ends belong to it."""
    bar[0], bar[1] = max(min(x0, x1), 0), min(max(x0, x1), WINDOW_W - 1)
    bar[2], bar[3] = max(min(y0, y1) - TOP, 0), min(max(y0, y1) - TOP, PANEL_LINES - 1)
    if abs(value) <= LEAST_VALUE:
        bar[3] = -1


@compiled()
def _find_cover(bars: NDArray[np.int64], first: int, end: int, cover: NDArray[np.int64]) -> None:
    """Find the set of bars among first … end - 1 that cross each line."""
    cover.fill(0)
    for bar in range(first, end):
        for line in range(bars[bar, 2], bars[bar, 3] + 1):
            cover[line] |= 1 << bar


@compiled()
def _draw_bars(panel: Panel, first: int, end: int, column: int, end_column: int) -> None:
    """Draw the bars first to end - 1 in the columns from `column` to end_column - 1.

    Lines are shrunk in y, a run of equal ones at a time.
    """
    # Plain arrays: with the panel itself, each call would count references to all of its arrays.
    bars, cover, pixels, whole_line = panel.bars, panel.cover, panel.pixels, panel.line
    image = panel.image
    line, sums = whole_line[3 * column : 3 * end_column], panel.sums[3 * column : 3 * end_column]
    _find_cover(bars, first, end, cover)
    shown = NO_BARS  # the set that the line shows
    whole_line.fill(0)
    for row in range(VIEW_ROWS, SIDE):
        sums.fill(0)
        at, behind = Y_START[row] - TOP, Y_END[row] - TOP
        shown = _show(bars, pixels, whole_line, shown, cover[max(at - 1, 0)])
        _add_part(line, sums, shown, Y_LEAD[row])
        while at < behind:
            shown = _show(bars, pixels, whole_line, shown, cover[at])
            start = at
            while at < behind and cover[at] == shown:
                at += 1
            _add_lines(line, sums, shown, at - start)
        shown = _show(bars, pixels, whole_line, shown, cover[behind])
        _add_part(line, sums, shown, Y_TRAIL[row])
        _write(sums, image[row - VIEW_ROWS, 3 * column : 3 * end_column])
    for bar in range(first, end):
        _paint(bars, pixels, bar, np.uint8(0))


@compiled(borrowing=True)
def _write(sums: NDArray[np.int32], row: NDArray[np.uint8]) -> None:
    """Write a row's sums as colours."""
    for i in range(len(row)):
        row[i] = scaled(sums[i], Y_RECIPROCAL)


@compiled(borrowing=True)
def _add_lines(line: NDArray[np.int32], sums: NDArray[np.int32], shown: int, times: int) -> None:
    """Add equal lines to the row's sums."""
    if shown != 0:
        for i in range(len(sums)):
            sums[i] += line[i] * times


@compiled(borrowing=True)
def _add_part(line: NDArray[np.int32], sums: NDArray[np.int32], shown: int, share: int) -> None:
    """Add a share of a line to the row's sums."""
    if shown != 0:
        for i in range(len(sums)):
            sums[i] += part(line[i], share)


@compiled()
def _show(
    bars: NDArray[np.int64], pixels: NDArray[np.int32], line: NDArray[np.int32], shown: int, wanted: int
) -> int:
    """Change a line from one set of bars to another, and return the latter."""
    if wanted != shown:
        _change(bars, pixels, line, shown, wanted)
    return wanted


@compiled()
def _change(
    bars: NDArray[np.int64], pixels: NDArray[np.int32], line: NDArray[np.int32], shown: int, wanted: int
) -> None:
    """Draw a line with another set of bars, and shrink what changed."""
    changed = wanted ^ shown
    for bar in range(BARS):
        if (changed >> bar) & 1:
            _paint(bars, pixels, bar, np.uint8(0))
    for bar in range(BARS):
        if (wanted >> bar) & 1 and _touches(bars, bar, changed):
            _paint(bars, pixels, bar, np.uint8(1))
    for bar in range(BARS):
        if (changed >> bar) & 1:
            _shrink(pixels, bars[bar, 0], bars[bar, 1], line)


@compiled(borrowing=True)
def _touches(bars: NDArray[np.int64], bar: int, others: int) -> bool:
    """Return whether a bar is one of others, or shares pixels with one of them."""
    for other in range(BARS):
        if (others >> other) & 1 and bars[bar, 0] <= bars[other, 1] and bars[other, 0] <= bars[bar, 1]:
            return True
    return False


@compiled(borrowing=True)
def _paint(bars: NDArray[np.int64], pixels: NDArray[np.int32], bar: int, light: np.uint8) -> None:
    """Draw a bar in a line, or wipe it out with light 0."""
    for x in range(bars[bar, 0], bars[bar, 1] + 1):
        for channel in range(3):
            pixels[channel, x] = COLOURS[bar, channel] * light


@compiled()
def _shrink(pixels: NDArray[np.int32], first: int, last: int, line: NDArray[np.int32]) -> None:
    """Shrink in x the columns that contain the pixels first to last."""
    for x in range(first * SIDE // WINDOW_W, min((last + 1) * SIDE // WINDOW_W, SIDE - 1) + 1):
        start, end, lead, trail = X_START[x], X_END[x], X_LEAD[x], X_TRAIL[x]
        for channel in range(3):
            cell = shrink_cell(pixels[channel], FIRST_PIXEL, start, end, lead, trail, X_RECIPROCAL)
            line[3 * x + channel] = cell


@compiled()
def _draw_text(panel: Panel) -> None:
    """Shrink the text, in x and then in y."""
    text, column = panel.text, panel.column
    top = TEXT_BASE - len(column) // 2
    for x in range(TEXT_COLUMNS):
        start, end = X_START[x], X_END[x]
        before = max(start - 1, 0)  # column 0 has a share of 0
        for i in range(len(column)):
            column[i] = part(text[before, i], X_LEAD[x]) + part(text[end, i], X_TRAIL[x])
        for pixel in range(start, end):
            for i in range(len(column)):
                column[i] += text[pixel, i]
        for i in range(len(column)):
            column[i] = scaled(column[i], X_RECIPROCAL)
        _stack(column, top, x, panel.image)


@compiled()
def _stack(column: NDArray[np.int32], top: int, x: int, image: NDArray[np.uint8]) -> None:
    """Shrink one column of the text in y; it is black outside the text's box."""
    bottom = top + len(column)
    for row in range(top * SIDE // WINDOW_H, bottom * SIDE // WINDOW_H + 1):
        start, end, lead, trail = Y_START[row], Y_END[row], Y_LEAD[row], Y_TRAIL[row]
        cell = shrink_cell(column, top, start, end, lead, trail, Y_RECIPROCAL)
        for channel in range(3):
            image[row - VIEW_ROWS, 3 * x + channel] = cell
