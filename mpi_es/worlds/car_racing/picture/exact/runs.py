"""Put shapes on the canvas: the common part of gfxdraw.filled_polygon and pygame.draw.polygon."""

from mpi_es.jit.decorator import compiled
from mpi_es.worlds.car_racing.picture.exact.canvas import (
    GREEN,
    RED,
    RUN_COUNT,
    SHAPE_COUNT,
    Canvas,
    Corners,
)
from mpi_es.worlds.car_racing.picture.pygame_polygon import extent
from mpi_es.worlds.car_racing.picture.sizes import PANEL_LINES, WINDOW_H, WINDOW_W


@compiled()
def pack(red: int, green: int, blue: int) -> int:
    """Return a colour as one number."""
    return int(red) << RED | int(green) << GREEN | int(blue)


@compiled(borrowing=True)
def in_view(corners: Corners, count: int) -> bool:
    """Return whether the box around the first corners meets the visible part of the window."""
    left, right = extent(corners.x, count)
    top, bottom = extent(corners.y, count)
    return left < WINDOW_W and right >= 0 and top < WINDOW_H and bottom >= PANEL_LINES


@compiled(borrowing=True)
def begin_shape(canvas: Canvas, colour: int, count: int) -> int:
    """Return the number of a new shape that has the visible rows of the first corners."""
    shapes = canvas.shapes
    top, bottom = extent(canvas.corners.y, count)
    shape: int = shapes.counts[SHAPE_COUNT]
    shapes.counts[SHAPE_COUNT] += 1
    shapes.colour[shape] = colour
    shapes.top[shape] = max(top, PANEL_LINES)
    shapes.bottom[shape] = min(bottom, WINDOW_H - 1)
    shapes.top[shape + 1] = WINDOW_H  # none yet
    shapes.line_count[shape] = 0
    shapes.place[shape] = shapes.counts[RUN_COUNT]
    shapes.counts[RUN_COUNT] += shapes.bottom[shape] - shapes.top[shape] + 1
    return shape


@compiled()
def visible_run(x1: int, x2: int) -> tuple[int, int]:
    """Return the first of columns x1 through x2, in either order, that the window shows, and its end."""
    return min(max(min(x1, x2), 0), WINDOW_W), min(max(max(x1, x2) + 1, 0), WINDOW_W)
