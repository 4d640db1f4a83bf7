"""The picture bit-identical to gymnasium's: the rows above the panel of indicators."""

from mpi_es.worlds.car_racing.picture.exact.canvas import Canvas, allocate
from mpi_es.worlds.car_racing.picture.exact.compose import draw

__all__ = ["Canvas", "allocate", "draw"]
