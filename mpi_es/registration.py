"""Register our environments with gymnasium without importing it, which would take 0.2 s."""

import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

WORLDS = {  # id: the world's class, and the steps after which an episode is cut
    "mpi_es/CartPole-v1": ("mpi_es.worlds.classic_control.cart_pole:CartPole", 500),
    "mpi_es/MountainCar-v0": ("mpi_es.worlds.classic_control.mountain_car:MountainCar", 200),
    "mpi_es/MountainCarContinuous-v0": (
        "mpi_es.worlds.classic_control.mountain_car_continuous:MountainCarContinuous",
        999,
    ),
    "mpi_es/Acrobot-v1": ("mpi_es.worlds.classic_control.acrobot:Acrobot", 500),
    "mpi_es/Pendulum-v1": ("mpi_es.worlds.classic_control.pendulum:Pendulum", 200),
    "mpi_es/LunarLander-v3": ("mpi_es.worlds.lunar_lander:LunarLander", 1000),
    "mpi_es/LunarLanderContinuous-v3": ("mpi_es.worlds.lunar_lander:LunarLanderContinuous", 1000),
    "mpi_es/BipedalWalker-v3": ("mpi_es.worlds.bipedal_walker:BipedalWalker", 1600),
    "mpi_es/BipedalWalkerHardcore-v3": ("mpi_es.worlds.bipedal_walker:BipedalWalkerHardcore", 2000),
    "mpi_es/CyclicMDP-v0": ("mpi_es.worlds.cyclic_mdp:CyclicMDP", 1000),
    "mpi_es/CarRacing-v3": ("mpi_es.worlds.car_racing.world:CarRacing", 1000),
}
# The same, not in compiled code.
ENVIRONMENTS = {"mpi_es/TakeCover-v0": ("mpi_es.envs.take_cover:TakeCover", 2100)}
_ENV, _VECTOR_ENV = "mpi_es.worlds.env:WorldEnv", "mpi_es.worlds.vector_env:WorldVectorEnv"
_OWN = {  # the classes for gymnasium.make and make_vec, if a world has its own
    "mpi_es/CarRacing-v3": (
        "mpi_es.worlds.car_racing.env:CarRacingEnv",
        "mpi_es.worlds.car_racing.vector_env:CarRacingVectorEnv",
    )
}


def register() -> None:
    """Register the environments, now if gymnasium is imported, else as soon as it is."""
    if "gymnasium" in sys.modules:
        _register()
    elif not any(isinstance(finder, _AfterGymnasium) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AfterGymnasium())


def _register() -> None:
    import gymnasium as gym

    for name, (entry_point, steps) in ENVIRONMENTS.items():
        if name not in gym.registry:
            gym.register(name, entry_point, max_episode_steps=steps)
    for name, (world, steps) in WORLDS.items():
        if name not in gym.registry:
            env, vector = _OWN.get(name, (_ENV, _VECTOR_ENV))
            options = {"world": world}
            gym.register(name, env, max_episode_steps=steps, vector_entry_point=vector, kwargs=options)


class _AfterGymnasium:
    """Finds gymnasium as Python itself does, and registers the environments at the end of its import."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of gymnasium; None for any other module."""
        if name != "gymnasium":
            return None
        sys.meta_path.remove(self)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            sys.meta_path.insert(0, self)  # code that only looks for the module imports it later, or never
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_register(module: ModuleType) -> None:
                execute(module)
                sys.meta_path.remove(self)
                _register()

            spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]
        return spec
