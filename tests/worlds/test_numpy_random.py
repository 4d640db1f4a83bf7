import numpy as np
import pytest
from gymnasium.utils.seeding import np_random

from mpi_es.worlds.numpy_random import allocate, integers, seed_generator, uniform

SEEDS = [0, 1, 2, 42, 12345, 2**31, 2**32 - 1, 2**32, 2**40 + 7, 2**62 + 3, 2**63 - 1]


@pytest.mark.parametrize("seed", SEEDS)
def test_draws_what_gymnasium_draws(seed: int) -> None:
    expected, _ = np_random(seed)
    generator = allocate()
    seed_generator(generator, seed)
    for _ in range(50):
        assert uniform(generator, 0.0, 2.0) == expected.uniform(0.0, 2.0)
        assert integers(generator, 3) == expected.integers(3)
        assert uniform(generator, -3.5, 150.0) == expected.uniform(-3.5, 150.0)


def test_an_integer_that_would_be_too_frequent_is_drawn_again() -> None:
    expected, _ = np_random(5)
    generator = allocate()
    seed_generator(generator, 5)
    for high in (3 * 2**30, 2**32):  # of the first a quarter of the draws is rejected
        assert [integers(generator, high) for _ in range(100)] == [
            expected.integers(high) for _ in range(100)
        ]
    with pytest.raises(ValueError, match="high > 2\\*\\*32"):
        integers(generator, 2**32 + 1)


def test_seeding_forgets_the_half_that_waited() -> None:
    generator = allocate()
    seed_generator(generator, 8)
    first = integers(generator, 1000)
    seed_generator(generator, 8)
    assert integers(generator, 1000) == first
    assert np.count_nonzero(generator) == 6


def test_one_choice_draws_nothing_and_none_is_refused() -> None:
    expected, _ = np_random(5)
    generator = allocate()
    seed_generator(generator, 5)
    assert integers(generator, 1) == expected.integers(1) == 0
    assert isinstance(integers(generator, 1), int)
    assert integers(generator, 1000) == expected.integers(1000)
    with pytest.raises(ValueError, match="high <= 0"):
        integers(generator, 0)
