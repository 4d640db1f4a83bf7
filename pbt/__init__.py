"""Population-based training over MPI: each generation the weak copy the strong.

What is imported from here is public; a name's module is imported when the name is first used.
"""

from typing import TYPE_CHECKING

from mpi_es.lazy import attributes

if TYPE_CHECKING:
    from pbt.config import Config
    from pbt.explore import Hyperparameter
    from pbt.members.base import Diverged, Member, Score

__all__ = ["Config", "Diverged", "Hyperparameter", "Member", "Score"]
_MODULES = {
    "pbt.config": ("Config",),
    "pbt.explore": ("Hyperparameter",),
    "pbt.members.base": ("Diverged", "Member", "Score"),
}


__getattr__ = attributes(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
