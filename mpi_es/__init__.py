"""Evolve neural-network policies over MPI.

The names in `__all__` here and in `mpi_es.gest` are public; everything else may change. `import mpi_es` costs
milliseconds: a name's module is imported when the name is first used.
"""

from typing import TYPE_CHECKING

from mpi_es.lazy import attributes
from mpi_es.registration import register

if TYPE_CHECKING:
    from mpi_es.agents.agent import Agent
    from mpi_es.arrays import Candidate, Vector
    from mpi_es.config.run import Config
    from mpi_es.errors import RolloutError, UserError
    from mpi_es.evolve_agent import PolicyResult, evolve_policy, load_agent
    from mpi_es.evolve_function import Result, evolve, minimise
    from mpi_es.parallel.script_api import RunStopped
    from mpi_es.run_file.checkpoint import load_run
    from mpi_es.run_file.scores import Scores
    from mpi_es.scripts.generation import Generation
    from mpi_es.scripts.running import rank
    from mpi_es.search import Search
    from mpi_es.seeds import Stream, rng
    from mpi_es.strategies.base import Dense, Noise, Population, Seeded, Strategy, StrategyOptions

__version__ = "1.0.0"
__all__ = [
    "Agent",
    "Candidate",
    "Config",
    "Dense",
    "Generation",
    "Noise",
    "PolicyResult",
    "Population",
    "Result",
    "RolloutError",
    "RunStopped",
    "Scores",
    "Search",
    "Seeded",
    "Strategy",
    "StrategyOptions",
    "Stream",
    "UserError",
    "Vector",
    "__version__",
    "evolve",
    "evolve_policy",
    "load_agent",
    "load_run",
    "minimise",
    "rank",
    "rng",
]
_MODULES = {
    "mpi_es.agents.agent": ("Agent",),
    "mpi_es.arrays": ("Candidate", "Vector"),
    "mpi_es.run_file.checkpoint": ("load_run",),
    "mpi_es.run_file.scores": ("Scores",),
    "mpi_es.config.run": ("Config",),
    "mpi_es.errors": ("RolloutError", "UserError"),
    "mpi_es.evolve_agent": ("PolicyResult", "evolve_policy", "load_agent"),
    "mpi_es.evolve_function": ("Result", "evolve", "minimise"),
    "mpi_es.parallel.script_api": ("RunStopped",),
    "mpi_es.scripts.generation": ("Generation",),
    "mpi_es.scripts.running": ("rank",),
    "mpi_es.search": ("Search",),
    "mpi_es.seeds": ("Stream", "rng"),
    "mpi_es.strategies.base": ("Dense", "Noise", "Population", "Seeded", "Strategy", "StrategyOptions"),
}
register()
if not TYPE_CHECKING:  # a type checker would accept any name
    __getattr__ = attributes(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
