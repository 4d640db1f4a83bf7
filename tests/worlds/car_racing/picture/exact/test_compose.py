"""The exact picture, against gymnasium's and pygame's own."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mpi_es.worlds.car_racing import state
from mpi_es.worlds.car_racing.picture import exact
from tests.worlds.car_racing.reference import copy_state, drive, reference

ROWS = 84  # the panel is below
STYLES = ("road", "noisy", "spin", "straight", "random")
LONG = [pytest.param(style, n, 1000, marks=pytest.mark.slow) for style in STYLES for n in range(20, 24)]


@pytest.fixture(scope="module")
def world():
    return state.allocate()


@pytest.fixture(scope="module")
def scratch():
    return exact.allocate()


def _assert_same(env, theirs, world, scratch):
    ours = np.full((96, 96, 3), 7, np.uint8)
    copy_state(env, world)
    exact.draw(world, scratch, ours)
    assert_array_equal(ours[:ROWS], theirs[:ROWS])
    assert (ours[ROWS:] == 7).all()


def _assert_same_race(env, style, seed, steps, world, scratch):
    theirs, _ = env.reset(seed=seed)
    actions = drive(style, env, seed)
    for _ in range(steps):
        _assert_same(env, theirs, world, scratch)
        theirs, _, ended, _, _ = env.step(next(actions))
        if ended:
            return


def _put(env, x, y, angle):
    """Put the car somewhere, and return the picture; gymnasium's wheels follow by the joints."""
    env.car.hull.position, env.car.hull.angle = (x, y), angle
    for wheel in env.car.wheels:
        wheel.position, wheel.angle = (x, y), angle
    env.t = 2.0
    return env.step(np.zeros(3, np.float32))[0]


@pytest.mark.parametrize(
    ("style", "seed", "steps"),
    [("road", 0, 80), ("noisy", 1, 80), ("spin", 2, 80), ("straight", 3, 80), ("random", 4, 40), *LONG],
)
def test_every_picture_of_a_race_is_gymnasium_s(style, seed, steps, world, scratch):
    _assert_same_race(reference(), style, seed, steps, world, scratch)


def test_first_picture_of_other_tracks_is_gymnasium_s(world, scratch):
    env = reference()
    for seed in range(30, 40):
        _assert_same_race(env, "road", seed, 2, world, scratch)


def test_other_colours_are_gymnasium_s(world, scratch):
    env = reference(domain_randomize=True)
    for seed in range(5):
        _assert_same_race(env, "noisy", seed, 8, world, scratch)


def test_pictures_at_the_border_of_the_map_are_gymnasium_s(world, scratch):
    env = reference()
    env.reset(seed=5)
    rng = np.random.default_rng(0)
    for _ in range(40):
        x, y = rng.uniform(310, 345, 2) * rng.choice([-1, 1], 2) * rng.permutation([1, rng.uniform()])
        _assert_same(env, _put(env, x, y, rng.uniform(-9, 9)), world, scratch)


@pytest.mark.parametrize("quarter", range(-5, 6))
@pytest.mark.parametrize("off", [0.0, 5e-7, 2e-6, 1e-3])
def test_pictures_near_right_angles_are_gymnasium_s(quarter, off, world, scratch):
    env = reference()
    env.reset(seed=6)
    angle = quarter * np.pi / 2 + off
    _assert_same(env, _put(env, *env.track[40][2:], angle), world, scratch)
