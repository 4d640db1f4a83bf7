"""Put shapes on the canvas: the common part of gfxdraw.filled_polygon and pygame.draw.polygon."""

from mpi_es.envs.car_racing.exact.canvas import (
    FIRST_ROW,
    RUN_COUNT,
    SHAPE_COUNT,
    WINDOW_H,
    WINDOW_W,
    Canvas,
)
from mpi_es.jit import compiled


@compiled()
def pack(red: int, green: int, blue: int) -> int:
    """Return a colour as 0x00RRGGBB."""
    return (int(red) << 16) | (int(green) << 8) | int(blue)


@compiled()
def clear(canvas: Canvas) -> None:
    """Take all shapes off the canvas."""
    canvas.counts[:] = 0


@compiled()
def in_view(canvas: Canvas, corners: int) -> bool:
    """Return whether the box around the first corners in canvas.x and canvas.y meets the visible window."""
    x, y = canvas.x[:corners], canvas.y[:corners]
    return x.max() >= 0 and x.min() < WINDOW_W and y.max() >= FIRST_ROW and y.min() < WINDOW_H


@compiled()
def begin_shape(canvas: Canvas, colour: int, corners: int) -> int:
    """Return the number of a new shape with the visible rows of the first corners."""
    shape = canvas.counts[SHAPE_COUNT]
    canvas.counts[SHAPE_COUNT] += 1
    canvas.colour[shape] = colour
    canvas.top[shape] = max(canvas.y[:corners].min(), FIRST_ROW)
    canvas.bottom[shape] = min(canvas.y[:corners].max(), WINDOW_H - 1)
    canvas.line_count[shape] = 0
    canvas.place[shape] = canvas.counts[RUN_COUNT]
    canvas.counts[RUN_COUNT] += canvas.bottom[shape] - canvas.top[shape] + 1
    return shape


@compiled()
def set_run(canvas: Canvas, run: int, x1: int, x2: int) -> None:
    """Set a run from column x1 through x2, in either order, to what the window shows of it."""
    canvas.begin[run] = min(max(min(x1, x2), 0), WINDOW_W)
    canvas.end[run] = min(max(max(x1, x2) + 1, 0), WINDOW_W)
