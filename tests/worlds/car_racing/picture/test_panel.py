from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mpi_es.worlds.car_racing import state
from mpi_es.worlds.car_racing.picture import panel
from mpi_es.worlds.car_racing.picture.sizes import VIEW_ROWS
from tests.worlds.car_racing.reference import copy_state, drive, reference


@pytest.fixture(scope="module")
def env() -> Any:
    env = reference()
    env.reset(seed=3)
    return env


def drawn(env: Any, shown_reward: float | None = None) -> NDArray[np.uint8]:
    world, picture = state.allocate(), np.full((96, 96, 3), 7, np.uint8)
    copy_state(env, world, shown_reward)
    panel.draw_panel(world, panel.allocate(), picture)
    assert (picture[:VIEW_ROWS] == 7).all()
    return picture[VIEW_ROWS:]


@pytest.mark.parametrize("style", ["road", "spin", "straight", "random"])
def test_the_panel_is_gymnasiums_to_the_bit(style: str) -> None:
    env = reference()
    picture, _ = env.reset(seed=11)
    actions = drive(style, env, 11)
    for _ in range(60):
        np.testing.assert_array_equal(drawn(env), picture[VIEW_ROWS:])
        picture, *_ = env.step(next(actions))


LOW = [0.0, -0.1, -0.5, -0.51, -99.7, -999.9, -1234.0]


@pytest.mark.parametrize("score", [*LOW, 0.5, 1.5, 17.0, 74.9, 303.3, 999.4, 999.6, 1000.0, 11717.0])
def test_the_score_is_gymnasiums_to_the_bit(env: Any, score: float) -> None:
    env.reward = score
    picture = env._render("state_pixels")
    np.testing.assert_array_equal(drawn(env, shown_reward=score), picture[VIEW_ROWS:])


def test_bars_of_any_length_are_gymnasiums_to_the_bit(env: Any) -> None:
    rng = np.random.default_rng(0)
    for scale in (0.0, 1e-5, 0.02, 1.0, 5.0, 10.0):
        env.car.hull.linearVelocity = tuple(rng.normal(0, 8 * scale, 2))
        env.car.hull.angularVelocity = rng.normal(0, scale)
        for wheel in env.car.wheels:
            wheel.omega = rng.normal(0, 12 * scale)
        picture = env._render("state_pixels")
        np.testing.assert_array_equal(drawn(env, env.reward), picture[VIEW_ROWS:])


def test_a_panel_does_not_depend_on_the_one_before() -> None:
    rng, kept = np.random.default_rng(4), panel.allocate()
    world = state.allocate()
    pictures = np.zeros((2, 96, 96, 3), np.uint8)
    seen = set()
    for turning in (0.0, 3.0, 3.0, -90.0, 0.0, 70.0, 0.0, 0.5):  # from 70 the gyroscope reaches the wheels
        world.velocities[0] = [*rng.normal(0, 20, 2), turning]
        world.omega[:] = np.where(rng.random(4) < 0.5, world.omega, rng.normal(0, 100, 4))
        world.clock[state.SHOWN_REWARD] = rng.choice([-0.3, 0.3, 12.6, 13.4])
        panel.draw_panel(world, kept, pictures[0])
        panel.draw_panel(world, panel.allocate(), pictures[1])
        np.testing.assert_array_equal(pictures[0], pictures[1])
        seen.add(pictures[0].tobytes())
    assert len(seen) >= 7


@pytest.mark.slow
def test_all_scores_of_a_race_are_gymnasiums_to_the_bit(env: Any) -> None:
    for score in range(-120, 1001):
        env.reward = float(score)
        picture = env._render("state_pixels")
        np.testing.assert_array_equal(drawn(env, shown_reward=float(score)), picture[VIEW_ROWS:])
