"""Race and picture together: what the environment and the world both drive."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.envs.car_racing import state, variants
from mpi_es.envs.car_racing.physics import arrays, race
from mpi_es.envs.car_racing.picture import panel
from mpi_es.envs.car_racing.picture.close import compose
from mpi_es.envs.car_racing.picture.exact import canvas as exact_canvas
from mpi_es.envs.car_racing.picture.exact import compose as exact
from mpi_es.envs.car_racing.picture.sizes import SIDE
from mpi_es.jit.decorator import compiled
from mpi_es.worlds import numpy_random

PICTURES = ("close", "exact")
_OTHER_STREAM = 1 << 62  # far from a run's episode seeds; colours must not change the track


class Simulation(NamedTuple):
    """A race with its picture, and the choices that hold for all episodes."""

    world: state.World
    physics: arrays.Physics
    generator: NDArray[np.uint64]
    colours: NDArray[np.uint64]  # the generator of the colours of variant COLOR
    close: compose.Canvas | None  # one of the two, by the choice of picture: only what draws on it compiles
    exact: exact_canvas.Canvas | None
    panel: panel.Panel
    picture: NDArray[np.uint8]  # (SIDE, SIDE, 3) as after the last step
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
        close=compose.allocate() if picture == "close" else None,
        exact=exact_canvas.allocate() if picture == "exact" else None,
        panel=panel.allocate(),
        picture=np.zeros((SIDE, SIDE, 3), np.uint8),
        variant=variants.NAMES.index(variant),
        randomized=domain_randomize,
        grass_cost=float(grass_cost),
    )


@compiled()
def begin(simulation: Simulation, seed: int) -> None:
    """Begin the episode of a seed and draw its first picture."""
    begin_streams(simulation, seed)
    proceed(simulation, simulation.randomized)


@compiled()
def begin_streams(simulation: Simulation, seed: int) -> None:
    """Seed the generators, with 0 to 2**63 - 1."""
    numpy_random.seed_generator(simulation.generator, seed)
    numpy_random.seed_generator(simulation.colours, seed ^ _OTHER_STREAM)


@compiled()
def begin_first(simulation: Simulation, entropy: int) -> None:
    """Be ready for a first episode without a seed, or one with options["randomize"] False."""
    begin_streams(simulation, entropy)
    if simulation.randomized:
        race.randomize_colours(simulation.world, simulation.physics, simulation.generator)


@compiled()
def proceed(simulation: Simulation, randomize: bool) -> None:
    """Begin an episode where the generators stand, and draw its first picture."""
    start(simulation, randomize)
    draw(simulation)


@compiled()
def start(simulation: Simulation, randomize: bool) -> None:
    """Begin an episode where the generators stand."""
    s = simulation
    if randomize:
        race.randomize_colours(s.world, s.physics, s.generator)
    if s.variant == variants.COLOR:
        variants.shift_colours(s.world, s.physics, s.colours)
    race.reset(s.world, s.physics, s.generator)


@compiled()
def drive(simulation: Simulation, steer: float, gas: float, brake: float) -> tuple[float, bool]:
    """Drive for a step and draw; return the reward, and whether the race is over."""
    reward, over = move(simulation, steer, gas, brake)
    draw(simulation)
    return reward, over


@compiled()
def hold(
    simulation: Simulation, steer: float, gas: float, brake: float, steps: int, limit: int
) -> tuple[float, bool, bool]:
    """Drive with one action until the episode is over, and draw the last step.

    Args:
        steps: for which the action lasts.
        limit: steps of an episode; 0 is none.

    Returns:
        the sum of the rewards, whether the race is over, and whether the limit cuts the episode.
    """
    total, over, cut = 0.0, False, False
    for _ in range(steps):
        reward, over = move(simulation, steer, gas, brake)
        total += reward
        cut = simulation.world.counts[state.STEPS] == limit
        if over or cut:
            break
    draw(simulation)
    return total, over, cut


@compiled()
def move(simulation: Simulation, steer: float, gas: float, brake: float) -> tuple[float, bool]:
    """Drive for a step that is not drawn; return the reward, and whether the race is over."""
    reward, over = race.step(simulation.world, simulation.physics, steer, gas, brake)
    wheels = simulation.physics.on_road
    return reward - simulation.grass_cost * (len(wheels) - wheels.sum()), over


@compiled()
def draw(simulation: Simulation) -> None:
    """Draw the picture of the race as it is."""
    s = simulation
    _draw_race(s.world, s.close, s.exact, s.picture)
    panel.draw_panel(s.world, s.panel, s.picture)
    variants.cover(s.world, s.variant, s.picture)


@compiled()
def _draw_race(
    world: state.World,
    close_canvas: compose.Canvas | None,
    exact_canvas: exact_canvas.Canvas | None,
    picture: NDArray[np.uint8],
) -> None:
    """Draw all but the panel. numba leaves out the branch of the canvas that is None."""
    if close_canvas is not None:
        compose.draw(world, close_canvas, picture)
    if exact_canvas is not None:
        exact.draw(world, exact_canvas, picture)
