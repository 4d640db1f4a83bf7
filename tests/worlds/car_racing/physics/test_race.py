from typing import Any

import numpy as np
import pytest

from mpi_es.worlds import numpy_random
from mpi_es.worlds.car_racing import state
from mpi_es.worlds.car_racing.physics import arrays, race
from tests.worlds.car_racing.physics.lockstep import Race, without_picture
from tests.worlds.car_racing.reference import copy_state, drive, reference


@pytest.mark.parametrize("style", ["road", "noisy", "random", "spin", "straight"])
@pytest.mark.parametrize(
    ("seed", "steps"),
    [(0, 250), (7, 250), *(pytest.param(seed, 1000, marks=pytest.mark.slow) for seed in range(20, 30))],
)
def test_every_step_is_gymnasiums(env: Any, seed: int, steps: int, style: str) -> None:
    both = Race(env, seed)
    both.assert_same()
    for action, _ in zip(drive(style, env, seed), range(steps), strict=False):
        end = both.step(action)
        both.assert_same()
        if end:
            return


def test_a_car_without_driver_comes_to_rest_as_gymnasiums(env: Any) -> None:
    both = Race(env, 3)
    for _ in range(100):
        both.step(np.zeros(3, np.float32))
        both.assert_same()


def test_off_the_map_costs_100_and_ends_the_race(env: Any) -> None:
    both = Race(env, 5)
    end, steps = False, 0
    while not end and steps < 400:
        assert max(abs(both.ours.transforms[0, :2])) <= race.PLAYFIELD
        for body in (env.car.hull, *env.car.wheels):  # a shove, for it would take long to drive there
            body.linearVelocity = (150.0, 20.0)
        both.ours.velocities[:, :2] = 150.0, 20.0
        end = both.step(np.zeros(3, np.float32))
        both.assert_same()
        steps += 1
    assert end
    assert both.last_reward == -100.0
    assert max(abs(both.ours.transforms[0, :2])) > race.PLAYFIELD


def test_a_lap_ends_the_race(env: Any) -> None:
    both = Race(env, 6)
    ahead = int(np.flatnonzero(both.ours.visited)[-1] if not both.ours.visited[8] else 7) + 1
    seen = [tile != ahead for tile in range(both.ours.tile_count)]  # as if the car came around
    for tile, visited in zip(env.road, seen, strict=True):
        tile.road_visited = visited
    both.ours.visited[: len(seen)] = seen
    env.tile_visited_count = both.ours.counts[state.VISITED_COUNT] = sum(seen)
    actions = zip(drive("road", env, 6), range(100), strict=False)
    assert any(both.step(action) for action, _ in actions)
    assert both.ours.counts[state.VISITED_COUNT] == both.ours.tile_count


def test_random_colours_are_gymnasiums() -> None:
    env = without_picture(reference(domain_randomize=True))
    both = state.allocate()
    own, draws, expected = arrays.allocate(), numpy_random.allocate(), state.allocate()
    for seed in range(5):
        env.reset(seed=seed)
        numpy_random.seed_generator(draws, seed)
        race.randomize_colours(both, own, draws)
        race.reset(both, own, draws)
        copy_state(env, expected)
        np.testing.assert_array_equal(both.ground, expected.ground)
        np.testing.assert_array_equal(both.polygons, expected.polygons)
        np.testing.assert_array_equal(
            both.colours[: both.polygon_count], expected.colours[: both.polygon_count]
        )
    env.close()


def test_a_share_of_the_tiles_is_a_lap_where_the_first_tile_completes_it() -> None:
    easy = without_picture(reference(lap_complete_percent=0.0))
    easy.reset(seed=1)
    ours, own, draws = state.allocate(), arrays.allocate(lap_complete_percent=0.0), numpy_random.allocate()
    numpy_random.seed_generator(draws, 1)
    race.reset(ours, own, draws)
    _, reward, end, _, _ = easy.step(np.zeros(3, np.float32))
    assert race.step(ours, own, 0.0, 0.0, 0.0) == (reward, end)
    assert end
    easy.close()
