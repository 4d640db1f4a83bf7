"""The indicator panel: the rows from VIEW_ROWS on and the score in them, bit for bit as gymnasium's.

gymnasium draws at 1000x800 and shrinks that with pygame's `smoothscale`. Since a panel is seven upright bars
and a text, one line is shrunk for every different set of bars, and the text by itself. The loops over a whole
line and over a column of the text are written so that they run in vectors.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.envs.car_racing import state
from mpi_es.envs.car_racing.picture.digits import LONGEST, Glyphs, render_glyphs, typeset
from mpi_es.envs.car_racing.picture.sizes import PANEL_LINES, SIDE, VIEW_ROWS, WINDOW_H, WINDOW_W
from mpi_es.envs.car_racing.picture.smoothscale import (
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
from mpi_es.jit.decorator import compiled

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
NO_BARS: Any = np.int64(0)  # numba would compile each function that gets a literal twice

# The text is centred at (60, 750), in front of the first bar, which begins with pixel 125 and column 12.
TEXT_MIDDLE, TEXT_BASE = 60, 750
TEXT_PIXELS, TEXT_COLUMNS = 125, 12


class Panel(NamedTuple):
    """The font, and scratch space."""

    glyphs: Glyphs
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
    _find_cover(panel.bars, panel.cover)
    _draw_bars(panel, picture)
    score = world.clock[state.SHOWN_REWARD]
    typeset(score, panel.glyphs, TEXT_MIDDLE, panel.characters, panel.text)
    _draw_text(panel, picture)


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
    """Set a bar that reaches to the right of its place, or to the left if negative."""
    top, bottom = int(WINDOW_H - 4 * H), int(WINDOW_H - 2 * H)
    _set(bars[bar], int(PLACES[bar] * S), int((PLACES[bar] + length) * S), top, bottom, value)


@compiled()
def _set(bar: NDArray[np.int64], x0: int, x1: int, y0: int, y1: int, value: float) -> None:
    """Store a bar, clipped to the panel. Both ends belong to it, in pygame's polygons."""
    bar[0], bar[1] = max(min(x0, x1), 0), min(max(x0, x1), WINDOW_W - 1)
    bar[2], bar[3] = max(min(y0, y1) - TOP, 0), min(max(y0, y1) - TOP, PANEL_LINES - 1)
    if abs(value) <= LEAST_VALUE:
        bar[3] = -1


@compiled()
def _find_cover(bars: NDArray[np.int64], cover: NDArray[np.int64]) -> None:
    """Find the set of bars that cross each line."""
    cover.fill(0)
    for bar in range(BARS):
        for line in range(bars[bar, 2], bars[bar, 3] + 1):
            cover[line] |= 1 << bar


@compiled()
def _draw_bars(panel: Panel, picture: NDArray[np.uint8]) -> None:
    """Shrink the lines in y, a run of equal ones at a time."""
    shown = NO_BARS  # the set that panel.line shows
    panel.line.fill(0)
    for row in range(VIEW_ROWS, SIDE):
        panel.sums.fill(0)
        shown = _show(panel, shown, max(Y_START[row] - 1 - TOP, 0))
        _add_part(panel, shown, Y_LEAD[row])
        line, end = Y_START[row] - TOP, Y_END[row] - TOP
        while line < end:
            shown = _show(panel, shown, line)
            first = line
            while line < end and panel.cover[line] == shown:
                line += 1
            _add_lines(panel, shown, line - first)
        shown = _show(panel, shown, end)
        _add_part(panel, shown, Y_TRAIL[row])
        flat = picture[row].reshape(-1)
        for i in range(3 * SIDE):
            flat[i] = scaled(panel.sums[i], Y_RECIPROCAL)


@compiled()
def _add_lines(panel: Panel, shown: int, times: int) -> None:
    """Add equal lines to the row's sums."""
    if shown != 0:
        for i in range(3 * SIDE):
            panel.sums[i] += panel.line[i] * times


@compiled()
def _add_part(panel: Panel, shown: int, share: int) -> None:
    """Add a share of a line to the row's sums."""
    if shown != 0:
        for i in range(3 * SIDE):
            panel.sums[i] += part(panel.line[i], share)


@compiled()
def _show(panel: Panel, shown: int, line: int) -> int:
    """Bring panel.line from one set of bars to that of a line, and return this."""
    bars: int = panel.cover[line]
    changed = bars ^ shown
    if changed == 0:
        return bars
    for bar in range(BARS):
        if (changed >> bar) & 1:
            _paint(panel, bar, np.uint8(0))
    for bar in range(BARS):
        if (bars >> bar) & 1 and _touches(panel.bars, bar, changed):
            _paint(panel, bar, np.uint8(1))
    for bar in range(BARS):
        if (changed >> bar) & 1:
            _shrink(panel.pixels, panel.bars[bar, 0], panel.bars[bar, 1], panel.line)
    return bars


@compiled()
def _touches(bars: NDArray[np.int64], bar: int, others: int) -> bool:
    """Return whether a bar is one of others, or shares pixels with one of them."""
    for other in range(BARS):
        if (others >> other) & 1 and bars[bar, 0] <= bars[other, 1] and bars[other, 0] <= bars[bar, 1]:
            return True
    return False


@compiled()
def _paint(panel: Panel, bar: int, light: np.uint8) -> None:
    """Draw a bar in panel.pixels, or wipe it out with light 0."""
    for x in range(panel.bars[bar, 0], panel.bars[bar, 1] + 1):
        for channel in range(3):
            panel.pixels[channel, x] = COLOURS[bar, channel] * light


@compiled()
def _shrink(pixels: NDArray[np.int32], first: int, last: int, line: NDArray[np.int32]) -> None:
    """Shrink in x the columns that the pixels first to last lie in."""
    for x in range(first * SIDE // WINDOW_W, min((last + 1) * SIDE // WINDOW_W, SIDE - 1) + 1):
        start, end, lead, trail = X_START[x], X_END[x], X_LEAD[x], X_TRAIL[x]
        for channel in range(3):
            cell = shrink_cell(pixels[channel], FIRST_PIXEL, start, end, lead, trail, X_RECIPROCAL)
            line[3 * x + channel] = cell


@compiled()
def _draw_text(panel: Panel, picture: NDArray[np.uint8]) -> None:
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
        _stack(column, top, x, picture)


@compiled()
def _stack(column: NDArray[np.int32], top: int, x: int, picture: NDArray[np.uint8]) -> None:
    """Shrink one column of the text in y; beyond the text's box it is black."""
    bottom = top + len(column)
    for row in range(top * SIDE // WINDOW_H, bottom * SIDE // WINDOW_H + 1):
        start, end, lead, trail = Y_START[row], Y_END[row], Y_LEAD[row], Y_TRAIL[row]
        cell = shrink_cell(column, top, start, end, lead, trail, Y_RECIPROCAL)
        for channel in range(3):
            picture[row, x, channel] = cell
