from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from mpi_es.strategies.base import Seeded, alone
from mpi_es.strategies.low_rank import Layout, LowRankNoise
from mpi_es.strategies.noise import ComputedNoise
from mpi_es.strategies.openai_es import OpenAIES
from tests.strategies.making import made

SHAPES = [(5, 3), (5,), (2, 5, 2, 2), (2,), (1, 2), ()]
PUBLISHED, SIGMA = Path(__file__).parent / "eggroll" / "published.npz", 0.05  # see record.py beside it
ends = pytest.mark.parametrize("rank", [1, 3])


def build(rank: int, seed: int = 7) -> LowRankNoise:
    layout = Layout(SHAPES, rank)
    return LowRankNoise(ComputedNoise(seed, layout.size), layout, keeps_factors=True)


def factors(
    rank: int, numbers: np.ndarray, shapes: Sequence[tuple[int, ...]] = SHAPES
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return A (a, rank) and B (b, rank) of each matrix, and a vector's noise twice."""
    found, place = [], 0
    for shape in shapes:
        a, b = (shape[0], int(np.prod(shape[1:]))) if len(shape) > 1 else (int(np.prod(shape)), 0)
        width = rank if b else 1
        left = numbers[place : place + a * width]
        right = numbers[place + a * width : place + (a + b) * width]
        place += (a + b) * width if b else a
        found.append((left.reshape(width, a).T, right.reshape(width, b).T) if b else (left, left))
    assert place == len(numbers)
    return found


@ends
def test_a_matrix_is_moved_by_the_product_of_its_factors_and_a_vector_by_its_own_noise(rank):
    noise = build(rank)
    drawn = factors(rank, ComputedNoise(7, noise.layout.size).row(4))
    parts = [left @ right.T / np.sqrt(rank) if left.ndim > 1 else left for left, right in drawn]
    np.testing.assert_allclose(noise.row(4), np.concatenate([part.ravel() for part in parts]), rtol=2e-6)


@ends
def test_the_update_is_the_published_one(rank):
    """EGGROLL: sum_i f_i A_i B_i^T / (n sqrt(rank)), with f_i of a mirrored pair for A and -A."""
    noise, options = build(rank), {"optimizer": "sgd", "momentum": 0.0, "shaping": "raw"}
    x0, fitness = np.linspace(-1, 1, noise.dim), np.array([3.0, -1.0, 2.0, 2.5, 0.0, 7.0, -4.0, 1.0])
    strategy = made(OpenAIES, x0, 0.02, 8, noise=noise, learning_rate=1.0, **options)
    population = strategy.ask()
    update: list[np.ndarray] = [np.zeros(shape) for shape in SHAPES]
    for i, f in enumerate(fitness):
        numbers = ComputedNoise(7, noise.layout.size).row(int(population.keys[i // 2])).astype(float)
        for total, (left, right) in zip(update, factors(rank, numbers), strict=True):
            sign = 1 if i % 2 == 0 else -1
            moved = (sign * left) @ right.T / np.sqrt(rank) if left.ndim > 1 else sign * left
            total += f / len(fitness) * moved.reshape(total.shape)
    strategy.tell(population, fitness)
    ascent = 0.02 * (strategy.centre - x0)  # the step is the gradient, which is over sigma
    np.testing.assert_allclose(ascent, np.concatenate([u.ravel() for u in update]), rtol=1e-4, atol=1e-6)


@ends
def test_a_candidate_is_the_centre_and_its_factors(rank):
    noise = build(rank)
    centre = np.linspace(-1, 1, noise.dim, dtype=np.float32)
    population = Seeded(centre, 0.3, noise.keys(1, 2))
    for index in range(4):
        candidate = noise.candidate(population, index)
        parts = [
            left @ right.T if left.ndim > 1 else left for left, right in factors(rank, candidate.numbers)
        ]
        moved = centre + np.concatenate([part.ravel() for part in parts])
        assert candidate.centre is centre
        np.testing.assert_allclose(moved, population.candidate(index, noise), rtol=1e-5, atol=1e-6)
    assert not noise.candidate(population, 4).numbers.any()


def test_a_cut_within_a_matrix_has_the_same_bits_across_chunks():
    layout = Layout([(700, 800), (700,)], 2)
    noise = LowRankNoise(ComputedNoise(3, layout.size), layout)
    keys, weights = noise.keys(0, 3), np.array([1.0, -0.3, 0.7])
    edges = [0, 1, 70_001, 560_100, layout.dim]
    parts = [noise.partial_sum(keys, weights, a, b) for a, b in pairwise(edges)]
    assert np.concatenate(parts).tobytes() == noise.weighted_sum(keys, weights).tobytes()


def test_nothing_of_the_size_of_a_matrix_is_drawn():
    assert Layout([(512, 3136), (512,)], 1).size == 512 + 3136 + 512


def test_a_parameter_without_numbers_draws_none():
    layout = Layout([(5, 0), (3,), (0, 2)], 1)
    assert (layout.dim, layout.size) == (3, 3)


class Recorded(ComputedNoise):
    """The draws of the published code, a row for each mirrored pair."""

    def __init__(self, rows: np.ndarray) -> None:
        super().__init__(0, rows.shape[1])
        self.rows = rows

    def keys(self, generation: int, count: int) -> np.ndarray:
        return np.arange(count)

    def read(self, key: int, start: int, stop: int) -> np.ndarray:
        return self.rows[key, start:stop].copy()


def test_a_centre_alone_has_factors_that_add_nothing():
    noise = build(1)
    centre = np.linspace(-1, 1, noise.dim, dtype=np.float32)
    found = noise.candidate(alone(centre).population, 0)
    np.testing.assert_array_equal(found.centre, centre)
    np.testing.assert_array_equal(found.numbers, np.zeros(noise.layout.size))


@ends
def test_with_the_draws_of_the_published_code_it_computes_its_update(rank):
    """Its learning rate is ours over sigma^2 and the root of the number of candidates."""
    published = {name: value for name, value in np.load(PUBLISHED).items()}
    of_rank = {
        name.split(",")[0]: value for name, value in published.items() if name.endswith(f"rank {rank}")
    }
    left, right = (of_rank[side][0::2].transpose(0, 2, 1).reshape(4, -1) for side in ("left", "right"))
    layout = Layout([published["matrix"].shape, published["vector"].shape], rank)
    drawn = Recorded(np.hstack([left, right, of_rank["moved"][0::2]]))
    noise = LowRankNoise(drawn, layout, keeps_factors=True)
    x0 = np.concatenate([published[name].ravel() for name in ("matrix", "vector")])
    options = {"optimizer": "sgd", "momentum": 0.0, "shaping": "raw", "learning_rate": SIGMA**2 * 8**0.5}
    strategy = made(OpenAIES, x0, SIGMA, 8, noise=noise, **options)
    population = strategy.ask()
    answers = []
    for i in range(8):
        numbers = noise.candidate(population, i).numbers
        a, b = factors(rank, numbers, [published["matrix"].shape, published["vector"].shape])[0]
        answers.append(published["matrix"] @ published["x"] + a @ (b.T @ published["x"]))
    np.testing.assert_allclose(answers, of_rank["answers"], rtol=1e-5, atol=1e-6)
    strategy.tell(population, of_rank["scores"].astype(float))
    after = np.concatenate([of_rank[f"{name} after"].ravel() for name in ("matrix", "vector")])
    np.testing.assert_allclose(strategy.centre, after, rtol=1e-5, atol=1e-6)
