"""Compiled environments, whose whole episodes run without the interpreter.

The names in `__all__` are public; a name's module is imported when the name is first used.
"""

from typing import TYPE_CHECKING

from mpi_es.lazy import attributes

if TYPE_CHECKING:
    from mpi_es.worlds import numpy_random
    from mpi_es.worlds.env import WorldEnv
    from mpi_es.worlds.vector_env import WorldVectorEnv
    from mpi_es.worlds.world import World, record

__all__ = ["World", "WorldEnv", "WorldVectorEnv", "numpy_random", "record"]
_MODULES: dict[str, tuple[str, ...]] = {
    "mpi_es.worlds.env": ("WorldEnv",),
    "mpi_es.worlds.numpy_random": (),
    "mpi_es.worlds.vector_env": ("WorldVectorEnv",),
    "mpi_es.worlds.world": ("World", "record"),
}
if not TYPE_CHECKING:  # a type checker would accept any name
    __getattr__ = attributes(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
