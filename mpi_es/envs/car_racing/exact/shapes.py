"""Put shapes on the canvas: the common part of gfxdraw.filled_polygon and pygame.draw.polygon."""

from mpi_es.envs.car_racing.exact.canvas import (
    FIRST_ROW,
    RUN_COUNT,
    SHAPE_COUNT,
    WINDOW_H,
    WINDOW_W,
    Canvas,
    Corners,
    Shapes,
)
from mpi_es.jit import compiled


@compiled()
def pack(red: int, green: int, blue: int) -> int:
    """Return a colour as 0x00RRGGBB."""
    return (int(red) << 16) | (int(green) << 8) | int(blue)


@compiled()
def in_view(corners: Corners, count: int) -> bool:
    """Return whether the box around the first corners meets the visible part of the window."""
    left, right, top, bottom = corners.x[0], corners.x[0], corners.y[0], corners.y[0]
    for i in range(1, count):
        left, right = min(left, corners.x[i]), max(right, corners.x[i])
        top, bottom = min(top, corners.y[i]), max(bottom, corners.y[i])
    return right >= 0 and left < WINDOW_W and bottom >= FIRST_ROW and top < WINDOW_H


@compiled()
def begin_shape(canvas: Canvas, colour: int, count: int) -> int:
    """Return the number of a new shape that has the visible rows of the first corners."""
    shapes, y = canvas.shapes, canvas.corners.y
    shape = shapes.counts[SHAPE_COUNT]
    shapes.counts[SHAPE_COUNT] += 1
    shapes.colour[shape] = colour
    shapes.top[shape] = max(y[:count].min(), FIRST_ROW)
    shapes.bottom[shape] = min(y[:count].max(), WINDOW_H - 1)
    shapes.line_count[shape] = 0
    shapes.place[shape] = shapes.counts[RUN_COUNT]
    shapes.counts[RUN_COUNT] += shapes.bottom[shape] - shapes.top[shape] + 1
    return shape


@compiled()
def set_run(shapes: Shapes, run: int, x1: int, x2: int) -> None:
    """Set a run from column x1 through x2, in either order, to what the window shows of it."""
    shapes.begin[run] = min(max(min(x1, x2), 0), WINDOW_W)
    shapes.end[run] = min(max(max(x1, x2) + 1, 0), WINDOW_W)
