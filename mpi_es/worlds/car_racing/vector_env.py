"""The vector of mpi_es/CarRacing-v3, with the attributes that wrappers read."""

from typing import Any

from mpi_es.jit.rows import row
from mpi_es.worlds.car_racing import attributes
from mpi_es.worlds.vector_env import WorldVectorEnv


class CarRacingVectorEnv(WorldVectorEnv):
    """Several environments of the world CarRacing; attributes are arrays (num_envs, …)."""

    car = attributes.read_only(attributes.car, "envs.states")
    t = attributes.read_only(attributes.t, "envs.states")
    reward = attributes.read_only(attributes.reward, "envs.states")
    prev_reward = attributes.read_only(attributes.prev_reward, "envs.states")
    tile_visited_count = attributes.read_only(attributes.tile_visited_count, "envs.states")

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Return an attribute of each single environment, also track and road_poly."""
        if name == "render_mode":
            return (self.render_mode,) * self.num_envs
        if name not in attributes.OF_ONE_RACE:
            raise AttributeError(f"expected one of {', '.join(attributes.OF_ONE_RACE)}, got {name!r}")
        return tuple(attributes.OF_ONE_RACE[name](row(self.envs.states, i)) for i in range(self.num_envs))
