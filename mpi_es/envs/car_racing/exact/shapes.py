"""Put shapes on the canvas: the common part of gfxdraw.filled_polygon and pygame.draw.polygon."""

from mpi_es.envs.car_racing.exact.canvas import FIRST_ROW, GREEN, RED, RUN_COUNT, SHAPE_COUNT, Canvas, Corners
from mpi_es.envs.car_racing.shrinking import WINDOW_H, WINDOW_W
from mpi_es.jit import compiled


@compiled()
def pack(red: int, green: int, blue: int) -> int:
    """Return a colour as one number."""
    return int(red) << RED | int(green) << GREEN | int(blue)


@compiled()
def in_view(corners: Corners, count: int) -> bool:
    """Return whether the box around the first corners meets the visible part of the window."""
    x, y = corners.x[:count], corners.y[:count]
    across: bool = x.max() >= 0 and x.min() < WINDOW_W
    down: bool = y.max() >= FIRST_ROW and y.min() < WINDOW_H
    return across and down


@compiled()
def begin_shape(canvas: Canvas, colour: int, count: int) -> int:
    """Return the number of a new shape that has the visible rows of the first corners."""
    shapes, y = canvas.shapes, canvas.corners.y
    shape: int = shapes.counts[SHAPE_COUNT]
    shapes.counts[SHAPE_COUNT] += 1
    shapes.colour[shape] = colour
    shapes.top[shape] = max(y[:count].min(), FIRST_ROW)
    shapes.bottom[shape] = min(y[:count].max(), WINDOW_H - 1)
    shapes.top[shape + 1] = WINDOW_H  # none yet
    shapes.line_count[shape] = 0
    shapes.place[shape] = shapes.counts[RUN_COUNT]
    shapes.counts[RUN_COUNT] += shapes.bottom[shape] - shapes.top[shape] + 1
    return shape


@compiled()
def visible_run(x1: int, x2: int) -> tuple[int, int]:
    """Return the first of columns x1 through x2, in either order, that the window shows, and its end."""
    return min(max(min(x1, x2), 0), WINDOW_W), min(max(max(x1, x2) + 1, 0), WINDOW_W)
