"""gymnasium's drawing of our race for people: its environment gets our state."""

from typing import Any

from gymnasium.envs.box2d.car_dynamics import Car
from gymnasium.envs.box2d.car_racing import CarRacing

from mpi_es.worlds.car_racing import variants
from mpi_es.worlds.car_racing.simulation import Simulation
from mpi_es.worlds.car_racing.state import POLYGON_COUNT, REWARD, TIME, World


class _Covered(CarRacing):
    """gymnasium's environment with bars or blob over its drawing."""

    covers: Any = ()  # left, top, right and bottom of each

    def _render_indicators(self, W: int, H: int) -> None:
        """Draw the panel over everything else, also over the bars or the blob."""
        surface: Any = self.surf
        for left, top, right, bottom in self.covers:
            surface.fill(self.cover_colour, (left, top, right - left, bottom - top))
        super()._render_indicators(W, H)


class Window:
    """gymnasium's environment, used for its drawing only."""

    def __init__(self, render_mode: str, variant: str) -> None:
        self.mode, self.variant = render_mode, variants.NAMES.index(variant)
        self.env: Any = _Covered(render_mode=render_mode)
        self.env.cover_colour = variants.colour(self.variant)

    def render(self, state: Simulation) -> Any:
        """Return the picture, or show it."""
        env, world = self.env, state.world
        if self.variant in (variants.BARS, variants.BLOB):
            env.covers = variants.rectangles(world, self.variant)
        env.t, env.reward = float(world.clock[TIME]), float(world.clock[REWARD])
        env.road_color, env.bg_color, env.grass_color = world.ground.astype(float)
        count = world.counts[POLYGON_COUNT]
        env.road_poly = list(
            zip(world.polygons[:count].tolist(), world.colours[:count].tolist(), strict=True)
        )
        if env.car is None:
            env.car = Car(env.world, *map(float, world.start))
        self._place_car(world)
        return env._render(self.mode)

    def _place_car(self, world: World) -> None:
        car = self.env.car
        bodies = (car.hull, *car.wheels)
        for body, (x, y, *_), angle in zip(
            bodies, world.transforms.tolist(), world.angles.tolist(), strict=True
        ):
            body.transform = ((x, y), angle)
        car.hull.linearVelocity = tuple(world.velocities[0, :2].tolist())
        car.hull.angularVelocity = float(world.velocities[0, 2])
        for wheel, omega, phase in zip(car.wheels, world.omega, world.phase, strict=True):
            wheel.omega, wheel.phase = float(omega), float(phase)

    def close(self) -> None:
        """Close gymnasium's window."""
        self.env.close()
