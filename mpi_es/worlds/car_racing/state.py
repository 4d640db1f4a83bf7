"""The state of a race: arrays that the physics writes and the picture reads, allocated once."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

TILES = 2500  # the most that gymnasium's track may have (its no_freeze)
SCALE = 6.0  # gymnasium's: units of its track in a metre
PLAYFIELD = 2000 / SCALE  # metres from the map's middle to its edge
GRASS_DIM = PLAYFIELD / 20  # metres along a patch of grass
DT = 1.0 / 50  # seconds of a step: gymnasium's FPS
BODIES = 5  # the hull, then the wheels in gymnasium's order: front left, front right, rear left, rear right


class World(NamedTuple):
    """A running race. Tiles and kerbs are in gymnasium's order of drawing, its road_poly."""

    # The track, made anew by each reset
    polygons: NDArray[np.float64]  # (2 * TILES, 4, 2) corners, as in road_poly
    tile: NDArray[np.int32]  # (2 * TILES,) its number, or -1 for a kerb
    colours: NDArray[np.uint8]  # (2 * TILES, 3) as drawn now: a tile's changes when it is first touched
    ground: NDArray[np.uint8]  # (3, 3) colours of road, background and grass
    start: NDArray[np.float64]  # (3,) angle, x, y
    visited: NDArray[np.uint8]  # (TILES,) 1 where the reward was given
    counts: NDArray[np.int64]  # (3,): POLYGON_COUNT …, below

    # The car, as after gymnasium's last step
    transforms: NDArray[np.float32]  # (BODIES, 4) x, y, sine, cosine: Box2D's body.transform
    angles: NDArray[np.float32]  # (BODIES,)
    velocities: NDArray[np.float32]  # (BODIES, 3) x, y and angular
    omega: NDArray[np.float64]  # (4,) the wheels' spin
    phase: NDArray[np.float64]  # (4,) the wheels' angle of rolling

    # The score
    clock: NDArray[np.float64]  # (4,): TIME …, below

    @property
    def polygon_count(self) -> int:
        """The number of tiles and kerbs."""
        return int(self.counts[POLYGON_COUNT])

    @property
    def tile_count(self) -> int:
        """The number of tiles."""
        return int(self.counts[TILE_COUNT])


# Places in World.counts
POLYGON_COUNT, TILE_COUNT, VISITED_COUNT = range(3)

# Places in World.clock: gymnasium's t, reward, prev_reward, and the reward that the last picture shows, which
# is drawn before the step's -0.1 is taken
TIME, REWARD, PREVIOUS_REWARD, SHOWN_REWARD = range(4)


def allocate() -> World:
    """Return a world without a track."""
    fields: dict[str, Any] = {
        "polygons": np.zeros((2 * TILES, 4, 2)),
        "tile": np.zeros(2 * TILES, np.int32),
        "colours": np.zeros((2 * TILES, 3), np.uint8),
        "ground": np.array([[102, 102, 102], [102, 204, 102], [102, 230, 102]], np.uint8),
        "start": np.zeros(3),
        "visited": np.zeros(TILES, np.uint8),
        "counts": np.zeros(3, np.int64),
        "transforms": np.zeros((BODIES, 4), np.float32),
        "angles": np.zeros(BODIES, np.float32),
        "velocities": np.zeros((BODIES, 3), np.float32),
        "omega": np.zeros(4),
        "phase": np.zeros(4),
        "clock": np.zeros(4),
    }
    return World(**fields)
