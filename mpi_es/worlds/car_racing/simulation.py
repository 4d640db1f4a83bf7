"""Race and picture together."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.jit.decorator import compiled
from mpi_es.jit.rows import working_space
from mpi_es.worlds import numpy_random
from mpi_es.worlds.car_racing import state, variants
from mpi_es.worlds.car_racing.physics import arrays, race
from mpi_es.worlds.car_racing.picture import exact, panel
from mpi_es.worlds.car_racing.picture.close import compose as close

PICTURES = ("close", "exact")
_OTHER_STREAM = 1 << 62  # far from a run's episode seeds; colours must not change the track


@working_space
class Canvases(NamedTuple):
    """The canvases of the pictures; no picture depends on the previous one."""

    close: close.Canvas | None  # one of the two, by the choice of picture: only what draws on it compiles
    exact: exact.Canvas | None
    panel: panel.Panel


class Simulation(NamedTuple):
    """A race with its picture, and the choices that hold for all episodes."""

    world: state.World
    physics: arrays.Physics
    generator: NDArray[np.uint64]
    colours: NDArray[np.uint64]  # a generator of colours that do not change the track
    randomize: NDArray[np.bool_]  # (1,) gymnasium's options["randomize"] of the next episode
    canvases: Canvases
    variant: int  # a place in variants.NAMES
    randomized: bool  # gymnasium's domain_randomize
    grass_cost: float  # of a wheel off the road, in a step


def allocate(
    picture: str = "close",
    variant: str = "plain",
    lap_complete_percent: float = 0.95,
    domain_randomize: bool = False,
    grass_cost: float = 0.0,
) -> Simulation:
    """Return a simulation without a track."""
    return Simulation(
        world=state.allocate(),
        physics=arrays.allocate(lap_complete_percent),
        generator=numpy_random.allocate(),
        colours=numpy_random.allocate(),
        randomize=np.ones(1, np.bool_),
        canvases=Canvases(
            close=close.allocate() if picture == "close" else None,
            exact=exact.allocate() if picture == "exact" else None,
            panel=panel.allocate(),
        ),
        variant=variants.NAMES.index(variant),
        randomized=domain_randomize,
        grass_cost=grass_cost,
    )


@compiled()
def begin(simulation: Simulation, seed: int) -> None:
    """Begin the episode of a seed from 0 to 2**63 - 1; a negative seed continues the generators."""
    s = simulation
    if seed >= 0:
        numpy_random.seed_generator(s.generator, seed)
        numpy_random.seed_generator(s.colours, seed ^ _OTHER_STREAM)
    has_colours = s.world.counts[state.TILE_COUNT] > 0  # of an episode before
    if s.randomized and s.randomize[0]:
        race.randomize_colours(s.world, s.physics, s.generator)
    elif s.randomized and not has_colours:
        race.randomize_colours(s.world, s.physics, s.colours)
    if s.variant == variants.COLOR:
        variants.shift_colours(s.world, s.physics, s.colours)
    race.reset(s.world, s.physics, s.generator)


@compiled()
def move(simulation: Simulation, steer: float, gas: float, brake: float) -> tuple[float, bool]:
    """Drive for a step; return the reward, and whether the race is over."""
    reward, over = race.step(simulation.world, simulation.physics, steer, gas, brake)
    wheels = simulation.physics.on_road
    return reward - simulation.grass_cost * (len(wheels) - wheels.sum()), over


@compiled()
def draw(simulation: Simulation, picture: NDArray[np.uint8]) -> None:
    """Draw the picture (SIDE, SIDE, 3) of the race."""
    s = simulation
    _draw_race(s.world, s.canvases.close, s.canvases.exact, picture)
    panel.draw_panel(s.world, s.canvases.panel, picture)
    variants.cover(s.world, s.variant, picture)


@compiled()
def _draw_race(
    world: state.World,
    close_canvas: close.Canvas | None,
    exact_canvas: exact.Canvas | None,
    picture: NDArray[np.uint8],
) -> None:
    """Draw everything but the panel. numba omits the branch of the canvas that is None."""
    if close_canvas is not None:
        close.draw(world, close_canvas, picture)
    if exact_canvas is not None:
        exact.draw(world, exact_canvas, picture)
