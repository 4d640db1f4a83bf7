"""Configs under a name: `python -m mpi_es.train NAME`."""

from mpi_es.config.presets_car_racing import CAR_RACING
from mpi_es.config.presets_control import CONTROL
from mpi_es.config.presets_games import GAMES
from mpi_es.config.presets_mujoco import MUJOCO
from mpi_es.config.run import Config

PRESETS: dict[str, Config] = CAR_RACING | CONTROL | MUJOCO | GAMES
