"""Options under a name: `python -m mpi_es.train NAME`.

A preset may have options of several strategies; a run takes those of its own.
"""

from typing import Any

from mpi_es.config.parts import suited
from mpi_es.config.presets_car_racing import CAR_RACING
from mpi_es.config.presets_control import CONTROL
from mpi_es.config.presets_games import GAMES
from mpi_es.config.presets_mujoco import MUJOCO
from mpi_es.config.run import Config, Preset

# Run directories are named after presets, since some share an environment.
PRESETS: dict[str, Preset] = {
    name: options | {"run_dir": f"runs/{name}-{{seed}}"}
    for name, options in (CAR_RACING | CONTROL | MUJOCO | GAMES).items()
}
# To the scores that docs/carracing.md, docs/mujoco.md and docs/bipedalwalker report, on one or two cores.
MINUTES = {
    "carracing-fast": 5,
    "carracing-fast-exp3": 12,
    "carracing-fast-exp3.1": 20,
    "carracing-fast-exp5": 69,
    "bipedalwalker-fast": 5,
    "swimmer": 1,
    "halfcheetah": 4,
}


def preset(name: str, **options: Any) -> Config:
    """Return the config of a preset, changed by options."""
    return suited(Config, PRESETS[name] | options)
