import numpy as np

from mpi_es.worlds.car_racing.picture import exact
from mpi_es.worlds.car_racing.picture.exact.band import paint_run, wipe
from mpi_es.worlds.car_racing.picture.exact.canvas import BAND, STRIDE
from mpi_es.worlds.car_racing.picture.smoothscale import WINDOW_W


def pixels(band):
    """Return the colour of each pixel (BAND, WINDOW_W): the last that begins there or before."""
    bits = np.unpackbits(band.changes.view(np.uint8), bitorder="little").astype(bool)
    last = np.maximum.accumulate(np.where(bits, np.arange(len(bits)), 0))
    return band.colours[last].reshape(BAND, STRIDE)[:, :WINDOW_W]


def test_runs_over_runs_leave_the_colours_that_slices_of_an_array_would_have():
    rng, band, expected = np.random.default_rng(0), exact.allocate().band, np.full((BAND, WINDOW_W), 9)
    wipe(band, 9)
    for _ in range(400):
        row, colour = rng.integers(BAND), rng.integers(1 << 60)
        begin = rng.integers(WINDOW_W)
        end = min(begin + rng.choice([1, 2, 63, 64, 65, 300]), WINDOW_W)
        paint_run(band.changes, band.colours, row * STRIDE + begin, row * STRIDE + end, colour)
        expected[row, begin:end] = colour
        np.testing.assert_array_equal(pixels(band), expected)
