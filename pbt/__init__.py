"""Population-based training over MPI: in each generation weak members copy strong ones.

The names in this package are public. The module of a name is imported at its first use.
"""

from typing import TYPE_CHECKING

from mpi_es.lazy import attributes

if TYPE_CHECKING:
    from mpi_es.parallel.stop_signal import Stopped
    from pbt.config import Config
    from pbt.explore import Hyperparameter
    from pbt.members.base import Diverged, Member, Score

__all__ = ["Config", "Diverged", "Hyperparameter", "Member", "Score", "Stopped"]
_MODULES = {
    "mpi_es.parallel.stop_signal": ("Stopped",),
    "pbt.config": ("Config",),
    "pbt.explore": ("Hyperparameter",),
    "pbt.members.base": ("Diverged", "Member", "Score"),
}

if not TYPE_CHECKING:  # a type checker would accept any name
    __getattr__ = attributes(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
