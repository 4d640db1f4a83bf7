from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mpi_es.worlds.car_racing import state
from mpi_es.worlds.car_racing.picture.close import compose
from tests.worlds.car_racing.picture.close.pictures import drawn
from tests.worlds.car_racing.reference import copy_state, drive, reference

Pictures = tuple[NDArray[np.uint8], NDArray[np.uint8]]


def race(style: str, seed: int, steps: int, **options: Any) -> Iterator[Pictures]:
    """Yield our pictures and gymnasium's, all of the first second's and every seventh after it."""
    env = reference(**options)
    picture, _ = env.reset(seed=seed)
    actions = drive(style, env, seed)
    for step in range(steps):
        if step < 50 or step % 7 == 0:
            yield drawn(env), picture
        picture, _, over, *_ = env.step(next(actions))
        if over:
            return


def errors(pictures: Iterator[Pictures]) -> NDArray[np.int64]:
    return np.array([np.abs(ours.astype(int) - theirs) for ours, theirs in pictures])


def assert_close(error: NDArray[np.int64]) -> None:
    assert error.mean() <= 0.042
    assert (error.max(-1) > 16).mean() <= 0.0002
    assert error[:, 84:].max() == 0


def test_the_picture_is_close_to_gymnasiums() -> None:
    error = [
        errors(race(style, 20 + i, 120)) for i, style in enumerate(("road", "spin", "straight", "random"))
    ]
    assert_close(np.concatenate(error))


def test_the_picture_is_close_in_other_colours() -> None:
    assert_close(errors(race("road", 5, 120, domain_randomize=True)))


def test_a_picture_does_not_depend_on_the_one_before() -> None:
    env, canvas = reference(), compose.allocate()
    worlds = [state.allocate(), state.allocate()]
    for seed, world in enumerate(worlds):
        env.reset(seed=seed)
        env.t = 0.5 + seed
        copy_state(env, world)
    pictures = np.zeros((3, 96, 96, 3), np.uint8)
    for picture, world in zip(pictures, (worlds[0], worlds[1], worlds[0]), strict=True):
        compose.draw(world, canvas, picture)
    np.testing.assert_array_equal(pictures[2], pictures[0])
    assert (pictures[1] != pictures[0]).any()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 104))
@pytest.mark.parametrize("style", ["road", "noisy", "spin", "straight"])
def test_whole_races_are_close(style: str, seed: int) -> None:
    assert_close(errors(race(style, seed, 600)))
