"""mpi_es/CarRacing-v3: gymnasium's CarRacing-v3, compiled, with the attributes that wrappers read."""

from mpi_es.worlds.car_racing import attributes
from mpi_es.worlds.env import WorldEnv


class CarRacingEnv(WorldEnv):
    """A single environment of the world CarRacing."""

    car = attributes.read_only(attributes.car, "state")
    t = attributes.read_only(attributes.t, "state")
    reward = attributes.read_only(attributes.reward, "state")
    prev_reward = attributes.read_only(attributes.prev_reward, "state")
    tile_visited_count = attributes.read_only(attributes.tile_visited_count, "state")
    track = attributes.read_only(attributes.track, "state")
    road_poly = attributes.read_only(attributes.road_poly, "state")
