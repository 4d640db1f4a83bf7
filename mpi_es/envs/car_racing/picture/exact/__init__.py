"""The picture as gymnasium draws it, to the bit: rows 0 to 83 of 96, above the panel of indicators."""

from mpi_es.envs.car_racing.picture.exact.canvas import Canvas, allocate
from mpi_es.envs.car_racing.picture.exact.compose import draw

__all__ = ["Canvas", "allocate", "draw"]
