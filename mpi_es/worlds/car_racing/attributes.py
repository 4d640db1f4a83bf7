"""What reward wrappers read from gymnasium's CarRacing:
car, track, time and score, of one race or of several.

Each function takes a simulation. For one race it returns Python numbers, for several arrays (n, …), which are
copies that cannot be written to.
"""

from collections.abc import Callable
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.worlds.car_racing.physics import arrays
from mpi_es.worlds.car_racing.simulation import Simulation
from mpi_es.worlds.car_racing.state import PREVIOUS_REWARD, REWARD, TIME, VISITED_COUNT


class Vector(NamedTuple):
    """A position or a velocity, like Box2D's b2Vec2."""

    x: float
    y: float

    @property
    def length(self) -> float:
        """The distance from zero."""
        return float(np.hypot(self.x, self.y))


def t(race: Simulation) -> Any:
    """The seconds of the episode."""
    return _number(race.world.clock[..., TIME])


def reward(race: Simulation) -> Any:
    """The episode's rewards so far, without those of grass_cost and of leaving the map."""
    return _number(race.world.clock[..., REWARD])


def prev_reward(race: Simulation) -> Any:
    """The same before the last step; a step's reward is the difference."""
    return _number(race.world.clock[..., PREVIOUS_REWARD])


def tile_visited_count(race: Simulation) -> Any:
    """The number of tiles that a wheel has touched."""
    return _number(race.world.counts[..., VISITED_COUNT])


def track(race: Simulation) -> NDArray[np.float64]:
    """The points of the track: rows of alpha, beta, x and y. For one race only."""
    return _frozen(race.physics.path[: race.world.tile_count])


def road_poly(race: Simulation) -> list[Any]:
    """The polygons of tiles and kerbs, each with its colour, in the order of drawing. For one race only."""
    world, physics, count = race.world, race.physics, race.world.polygon_count
    polygons = []
    for corners, tile, colour in zip(
        world.polygons[:count], world.tile[:count].tolist(), world.colours[:count], strict=True
    ):
        if tile < 0:
            shown: Any = tuple(colour.tolist())
        else:
            lighter = 0.0 if physics.touched[tile] else 0.01 * (tile % 3) * 255
            shown = _frozen(physics.road_colour + lighter)
        polygons.append(([tuple(corner) for corner in corners.tolist()], shown))
    return polygons


def car(race: Simulation) -> "Car":
    """The car: its hull and its wheels, read at access."""
    return Car(Body(race, 0), tuple(Wheel(race, 1 + wheel) for wheel in range(arrays.WHEELS)))


class Body:
    """The hull or a wheel, with Box2D's names."""

    __slots__ = ("_index", "_race")

    def __init__(self, race: Simulation, index: int) -> None:
        self._race, self._index = race, index

    @property
    def position(self) -> Any:
        """Metres, x and y."""
        return _vector(self._race.world.transforms[..., self._index, :2])

    @property
    def angle(self) -> Any:
        """Radians; at 0 the car looks along y."""
        return _number(self._race.world.angles[..., self._index])

    @property
    def linearVelocity(self) -> Any:  # noqa: N802
        """Metres per second, x and y."""
        return _vector(self._race.world.velocities[..., self._index, :2])

    @property
    def angularVelocity(self) -> Any:  # noqa: N802
        """Radians per second."""
        return _number(self._race.world.velocities[..., self._index, 2])


class Wheel(Body):
    """A wheel. It has no `tiles`, unlike gymnasium's; `on_road` tells whether that would hold any."""

    __slots__ = ()

    @property
    def omega(self) -> Any:
        """The spin, radians per second."""
        return _number(self._race.world.omega[..., self._index - 1])

    @property
    def phase(self) -> Any:
        """The angle of rolling, radians."""
        return _number(self._race.world.phase[..., self._index - 1])

    @property
    def steer(self) -> Any:
        """The wheel's angle that the driver requests."""
        return self._control(arrays.STEER)

    @property
    def gas(self) -> Any:
        """The gas that arrives at the wheel, 0 to 1."""
        return self._control(arrays.GAS)

    @property
    def brake(self) -> Any:
        """The brake, 0 to 1."""
        return self._control(arrays.BRAKE)

    @property
    def on_road(self) -> Any:
        """Whether the wheel touches a tile."""
        return _number(self._race.physics.on_road[..., self._index - 1] > 0)

    def _control(self, place: int) -> Any:
        return _number(self._race.physics.controls[..., self._index - 1, place])


class Car(NamedTuple):
    """The car, as gymnasium's `car`."""

    hull: Body
    wheels: tuple[Wheel, ...]


OF_ONE_RACE: dict[str, Callable[[Simulation], Any]] = {
    function.__name__: function
    for function in (car, prev_reward, reward, road_poly, t, tile_visited_count, track)
}


def read_only(function: Callable[[Simulation], Any], path: str) -> Any:
    """Return a property of environments that have their simulation at that attribute path."""
    simulation = attrgetter(path)
    return property(lambda env: function(simulation(env)), doc=function.__doc__)


def _number(array: NDArray[Any]) -> Any:
    """Return a number, or one for each race."""
    return array.item() if array.ndim == 0 else _frozen(array)


def _vector(array: NDArray[Any]) -> Any:
    """Return x and y, or an array (n, 2)."""
    return Vector(*array.tolist()) if array.ndim == 1 else _frozen(array)


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return a copy that refuses to be written to."""
    copy = array.copy()
    copy.flags.writeable = False
    return copy
