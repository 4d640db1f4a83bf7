import numpy as np
import pytest

from mpi_es.worlds.car_racing.picture.close.coverage import GROUP, add_edge, allocate
from mpi_es.worlds.car_racing.picture.sizes import SIDE, VIEW_ROWS

WHOLE = (np.float32(1),)


def covered(corners):
    """Return the coverage (VIEW_ROWS, SIDE) of a polygon whose corners go around clockwise, y down."""
    cells = allocate(1)
    for (x0, y0), (x1, y1) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        add_edge(cells, x0, y0, x1, y1, WHOLE)
    touched = cells.touched[:, None] >> np.arange(SIDE) // GROUP & 1
    assert not cells.areas[:, 0][touched == 0].any()
    return cells.areas[:VIEW_ROWS, 0].cumsum(axis=0)


def sampled(corners, times=8):
    """Return about the same of a convex polygon, from points in each pixel."""
    y, x = (np.mgrid[: VIEW_ROWS * times, : SIDE * times] + 0.5) / times
    inside = np.ones(x.shape, bool)
    for (x0, y0), (x1, y1) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        inside &= (x1 - x0) * (y - y0) - (y1 - y0) * (x - x0) >= 0
    return inside.reshape(VIEW_ROWS, times, SIDE, times).mean(axis=(1, 3))


@pytest.mark.parametrize("radius", [0.4, 3, 30, 150])
def test_a_pixel_is_covered_by_the_share_of_its_points_that_lie_inside(radius):
    rng = np.random.default_rng(0)
    for _ in range(5):
        angles = np.sort(rng.uniform(0, 2 * np.pi, 5))
        middle = rng.uniform([0, 0], [SIDE, VIEW_ROWS])
        corners = (middle + radius * np.stack([np.cos(angles), np.sin(angles)], 1)).astype(np.float32)
        ours, theirs = covered(corners), sampled(corners)
        assert np.abs(ours - theirs).max() < 0.13
        assert np.abs(ours - theirs).mean() < 1e-3


def test_the_coverages_of_a_polygon_add_up_to_its_area():
    corners = np.array([[10.3, 5.1], [80.7, 20.2], [60.5, 70.9], [20.4, 60.6]], np.float32)
    x, y = corners.astype(float).T
    area = 0.5 * abs(x @ np.roll(y, -1) - y @ np.roll(x, -1))
    np.testing.assert_allclose(covered(corners).sum(dtype=float), area, rtol=1e-5)
