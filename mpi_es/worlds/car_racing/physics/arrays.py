"""The internal state of the physics, and its working space: arrays, allocated once."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpi_es.worlds.box2d.records import SIMPLEX
from mpi_es.worlds.car_racing.physics.bodies import FIXTURES, MOST_VERTICES
from mpi_es.worlds.car_racing.physics.joints import JOINT, Joints
from mpi_es.worlds.car_racing.state import BODIES, TILES

CHECKPOINTS = 12
WHEELS = 4


class Physics(NamedTuple):
    """The state of Box2D and of gymnasium's Car that nothing outside the physics reads."""

    # The track
    checkpoints: NDArray[np.float64]  # (CHECKPOINTS, 3) angle, x, y
    path: NDArray[np.float64]  # (TILES, 4) alpha, beta, x, y: gymnasium's track
    kerb: NDArray[np.uint8]  # (TILES,) 1 on hard turns: gymnasium's border
    road_colour: NDArray[np.float64]  # (3,) not yet truncated to integers
    vertices: NDArray[np.float32]  # (TILES, 4, 2) of the tiles in Box2D's order
    sizes: NDArray[np.int32]  # (TILES,) their numbers: 3 where a corner lies within the other three
    boxes: NDArray[np.float32]  # (4, TILES) their lower x, lower y, upper x, upper y
    polygon: NDArray[np.int32]  # (TILES,) a tile's place among World.polygons
    touched: NDArray[np.uint8]  # (TILES,) 1 where a contact has set the tile's colour
    near: NDArray[np.int32]  # (TILES,) the tiles around the car; working space

    # The car
    controls: NDArray[np.float64]  # (WHEELS, 3) STEER, GAS, BRAKE
    on_road: NDArray[np.uint8]  # (WHEELS,) 1 where a wheel touched a tile in the last step
    forces: NDArray[np.float32]  # (WHEELS, 2) of the tyres in this step
    centres: NDArray[np.float32]  # (BODIES, 2) of mass
    at_rest: NDArray[np.float32]  # (BODIES,) seconds
    joints: Joints  # (WHEELS,)
    corners: NDArray[np.float32]  # (FIXTURES, MOST_VERTICES, 2) where the car's polygons are
    bounds: NDArray[np.float32]  # (FIXTURES + 1, 4) the boxes of what they reach, the last the whole car's
    simplex: NDArray[Any]  # (1,) of SIMPLEX; working space

    # The rule of a lap
    lap: NDArray[np.float64]  # (2,) LAP_COMPLETE_PERCENT, NEW_LAP


STEER, GAS, BRAKE = range(3)  # places in Physics.controls
LAP_COMPLETE_PERCENT, NEW_LAP = range(2)  # places in Physics.lap


def allocate(lap_complete_percent: float = 0.95) -> Physics:
    """Return the physics of a world without a track.

    Args:
        lap_complete_percent: as in gymnasium: the share of tiles that completes a lap, if tile 0 comes after.
    """
    fields: dict[str, Any] = {
        "checkpoints": np.zeros((CHECKPOINTS, 3)),
        "path": np.zeros((TILES, 4)),
        "kerb": np.zeros(TILES, np.uint8),
        "road_colour": np.full(3, 102.0),
        "vertices": np.zeros((TILES, 4, 2), np.float32),
        "sizes": np.zeros(TILES, np.int32),
        "boxes": np.zeros((4, TILES), np.float32),
        "polygon": np.zeros(TILES, np.int32),
        "touched": np.zeros(TILES, np.uint8),
        "near": np.zeros(TILES, np.int32),
        "controls": np.zeros((WHEELS, 3)),
        "on_road": np.zeros(WHEELS, np.uint8),
        "forces": np.zeros((WHEELS, 2), np.float32),
        "centres": np.zeros((BODIES, 2), np.float32),
        "at_rest": np.zeros(BODIES, np.float32),
        "joints": np.zeros(WHEELS, JOINT),
        "corners": np.zeros((FIXTURES, MOST_VERTICES, 2), np.float32),
        "bounds": np.zeros((FIXTURES + 1, 4), np.float32),
        "simplex": np.zeros(1, SIMPLEX),
        "lap": np.array([lap_complete_percent, 0.0]),
    }
    return Physics(**fields)
