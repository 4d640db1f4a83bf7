import numpy as np
import pytest

from mpi_es.errors import UserError
from mpi_es.strategies.base import Seeded
from mpi_es.strategies.noise import ComputedNoise
from mpi_es.strategies.openai_es import OpenAIES
from tests.strategies.making import made

DIM = 5
NOISE = ComputedNoise(3, DIM)
ASCENT = {"optimizer": "sgd", "momentum": 0.0}  # a step is the learning rate times the gradient


def build(x0: np.ndarray | None = None, popsize: int = 8, **options: float) -> OpenAIES:
    options = {"learning_rate": 0.1, "shaping": "raw", **ASCENT, **options}
    x0 = np.linspace(-1, 1, DIM) if x0 is None else x0
    return made(OpenAIES, x0, 0.02, popsize, noise=NOISE, **options)


def candidates(population: Seeded) -> np.ndarray:
    return np.stack([population.candidate(i, NOISE) for i in range(len(population))])


def test_candidates_are_mirrored_pairs_around_the_mean() -> None:
    strategy = build()
    rows = candidates(strategy.ask())
    np.testing.assert_allclose((rows[0::2] + rows[1::2]) / 2, np.tile(strategy.centre, (4, 1)), atol=1e-7)
    np.testing.assert_allclose((rows[0] - rows[1]) / 2, 0.02 * NOISE.row(NOISE.keys(0, 4)[0]), atol=1e-7)


def test_the_step_is_that_of_algorithm_1() -> None:
    strategy, fitness = build(), np.array([3.0, -1.0, 2.0, 2.5, 0.0, 7.0, -4.0, 1.0])
    population = strategy.ask()
    epsilon = (candidates(population) - strategy.centre) / 0.02
    expected = strategy.centre + 0.1 * (fitness @ epsilon) / (8 * 0.02)
    strategy.tell(population, fitness)
    np.testing.assert_allclose(strategy.centre, expected, rtol=1e-4)


def test_the_gradient_of_a_linear_function_is_its_slope() -> None:
    slope = np.array([1.0, -2.0, 0.0, 3.0, 0.5])
    strategy = build(np.zeros(DIM), popsize=20_000, learning_rate=1.0)
    population = strategy.ask()
    strategy.tell(population, candidates(population) @ slope)
    np.testing.assert_allclose(strategy.centre, slope, atol=0.15)


def test_weight_decay_is_the_starters() -> None:
    """Its es.py: optimizer.update(-g + l2coeff * theta), with g = sum of (r+ - r-) eps, over n."""
    strategy, fitness = build(weight_decay=0.005), np.array([3.0, -1.0, 2.0, 2.5, 0.0, 7.0, -4.0, 1.0])
    theta, population = strategy.centre, strategy.ask()
    pairs = np.stack([NOISE.row(int(key)) for key in population.keys])
    g = (fitness[0::2] - fitness[1::2]) @ pairs / 8
    strategy.tell(population, fitness)
    np.testing.assert_allclose(strategy.centre - theta, 0.1 / 0.02 * (g - 0.005 * theta), rtol=1e-4)


def test_sigma_and_the_learning_rate_decay_to_their_floors() -> None:
    strategy = build(sigma_decay=0.5, sigma_min=0.007, lr_decay=0.1, lr_min=0.002)
    seen = []
    for _ in range(3):
        seen.append((strategy.sigma, strategy.state.learning_rate, strategy.ask().sigma))
        strategy.tell(strategy.ask(), np.arange(8.0))
    np.testing.assert_allclose(seen, [(0.02, 0.1, 0.02), (0.01, 0.01, 0.01), (0.007, 0.002, 0.007)])


@pytest.mark.parametrize("sigma", [1e-39, 1e39])
def test_a_sigma_that_single_precision_does_not_hold_is_refused(sigma: float) -> None:
    with pytest.raises(UserError, match="--init-sigma: expected a number that single precision holds, got"):
        made(OpenAIES, np.zeros(DIM), sigma, 8, noise=NOISE)


def test_only_the_noise_adds_up_rows() -> None:
    """Where ranks share the sum, weighted_sum is collective, and rows are made by workers."""

    class Lazy(ComputedNoise):
        def row(self, key: int) -> np.ndarray:
            raise AssertionError("a row was made on rank 0")

    noise = Lazy(3, DIM)
    strategy = made(OpenAIES, np.zeros(DIM), 0.1, 4, noise=noise, learning_rate=0.1)
    strategy.tell(strategy.ask(), np.arange(4.0))
    assert strategy.state.generation == 1


RANDOM_SEARCH = {"shaping": "standardized", "top_directions": 3}


def test_the_pairs_with_the_best_candidates_alone_are_used() -> None:
    """Algorithm 2 of arXiv:1803.07055: alpha / (b deviation) times the sum of (r+ - r-) delta."""
    strategy, alpha = build(**RANDOM_SEARCH, learning_rate=0.06 * 2 * 0.02), 0.06
    fitness = np.array([3.0, -1.0, 2.0, 2.5, 0.0, 7.0, -4.0, 1.0])
    population, before = strategy.ask(), strategy.centre
    used, pairs = [0, 1, 2], fitness.reshape(4, 2)
    delta = np.stack([NOISE.row(int(key)) for key in population.keys])[used]
    step = alpha / (3 * pairs[used].std()) * (pairs[used, 0] - pairs[used, 1]) @ delta
    strategy.tell(population, fitness)
    np.testing.assert_allclose(strategy.centre - before, step, rtol=1e-5)


def test_given_the_same_draws_it_is_the_random_search_of_sb3_contrib(monkeypatch) -> None:
    """Up to the deviation, which has n - 1 in its denominator there."""
    ars, torch = pytest.importorskip("sb3_contrib").ARS, pytest.importorskip("torch")
    nu, alpha, used = 0.1, 0.3, 2 * RANDOM_SEARCH["top_directions"]
    theirs = ars("LinearPolicy", "Pendulum-v1", 4, 3, alpha, delta_std=nu, device="cpu")
    theirs._setup_learn(1)
    dim = theirs.n_params
    noise, rate = ComputedNoise(7, dim), alpha * 2 * nu * np.sqrt((used - 1) / used)
    ours = made(
        OpenAIES, np.zeros(dim), nu, 8, noise=noise, **ASCENT, **RANDOM_SEARCH, learning_rate=float(rate)
    )
    goal, wave = np.arange(1.0, dim + 1), np.arange(dim) + 2.0
    returns = lambda x: -np.abs(x - goal).sum(axis=-1) + np.cos(x @ wave)  # noqa: E731
    evaluate = lambda x, *_: torch.from_numpy(returns(x.double().numpy())).float()  # noqa: E731
    monkeypatch.setattr(theirs, "evaluate_candidates", evaluate)
    for _ in range(20):
        population = ours.ask()
        draws = torch.from_numpy(np.stack([noise.row(int(key)) for key in population.keys]))
        monkeypatch.setattr(torch, "normal", lambda *_, draws=draws, **__: draws)
        theirs._do_one_update(None, None)
        rows = np.stack([population.candidate(i, noise) for i in range(8)])
        ours.tell(population, returns(rows.astype(float)))
        np.testing.assert_allclose(ours.centre, theirs.weights.numpy(), rtol=1e-4, atol=1e-5)
    assert np.abs(ours.centre).min() > 0.1
