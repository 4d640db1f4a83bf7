import numpy as np
import pytest

from mpi_es.config.parts import changed
from mpi_es.config.run import configured
from mpi_es.seeds import Stream, rng
from mpi_es.strategies import cma_es, make
from mpi_es.strategies.integer_centering import Grid
from mpi_es.strategies.noise import ComputedNoise

CONFIG = configured(seed=5, population_size=8, init_sigma=0.5)


def build(draw=None, dim=2, **options):
    return make(changed(CONFIG, **options), np.ones(dim), ComputedNoise(5, dim), draw)


def sphere(rows):
    return -np.square(rows).sum(axis=1)


def rastrigin(rows):
    return -(10 * rows.shape[1] + (rows**2 - 10 * np.cos(2 * np.pi * rows)).sum(axis=1))


def advance(strategy, generations, function=sphere):
    """Run generations; return the start, popsize and best fitness of each."""
    seen = []
    for _ in range(generations):
        population = strategy.ask()
        fitness = function(population.rows)
        seen.append((getattr(strategy, "start", 0), len(population), fitness.max()))
        strategy.tell(population, fitness)
    return seen


def sizes_of(seen):
    """The population sizes of the starts, in their order."""
    return [
        next(popsize for number, popsize, _ in seen if number == start) for start in range(seen[-1][0] + 1)
    ]


def test_starts_have_the_covariance_of_the_first(monkeypatch):
    monkeypatch.setattr(cma_es, "AUTO_SECONDS", cma_es.predict_full(2, 9)[0])
    assert build(population_size=16).description.startswith("CMA-ES, separable")
    strategy = build(restarts="ipop")
    first = strategy.description
    assert first.startswith("CMA-ES, full")
    advance(strategy, 150)
    assert strategy.start
    assert strategy.description == first
    assert strategy.state.inner["variant"] == "full"


def test_ipop_doubles_the_population_at_each_restart():
    assert sizes_of(advance(build(restarts="ipop"), 250))[:4] == [8, 16, 32, 64]


@pytest.mark.parametrize("sigma", [1e-2, 1e-4])
def test_a_small_sigma_beside_integers_begins_no_restarts(sigma):
    config = changed(CONFIG, restarts="ipop", init_sigma=sigma)
    grid = Grid(np.array([1.0, 0, 0]), np.full(3, -np.inf), np.full(3, np.inf))
    strategy = make(config, np.ones(3), ComputedNoise(5, 3), None, grid)
    assert advance(strategy, 14)[-1][0] == 0


@pytest.mark.parametrize(
    ("x0", "function"),
    [
        (np.array([1e9, 1.0]), lambda rows: sphere(rows - [1e9, 0])),  # floats around 1e9 are 1e-7 apart
        (np.ones(2), lambda rows: sphere(rows * [1e9, 1])),  # a condition above 1e14
    ],
)
def test_a_start_ends_where_floats_end_it(x0, function):
    strategy = make(changed(CONFIG, restarts="ipop"), x0, ComputedNoise(5, 2))
    while not strategy.state.over:
        advance(strategy, 1, function)
    assert strategy.state.over == "steps are too small for floating-point numbers"
    assert strategy.state.generation < 250


def test_until_the_first_restart_a_run_is_that_without_restarts():
    one, other = build(restarts="ipop"), build()
    np.testing.assert_array_equal(advance(one, 50), advance(other, 50))


def test_ipop_finds_the_optimum_among_many():
    assert max(best for *_, best in advance(build(restarts="ipop", dim=5), 700, rastrigin)) > -1e-8
    assert max(best for *_, best in advance(build(dim=5), 700, rastrigin)) < -0.9  # the next optimum


def test_bipop_gives_few_candidates_as_many_evaluations_as_many_and_sigmas_of_their_own():
    strategy, seen, sigmas = build(restarts="bipop"), [], set()
    for _ in range(1500):
        seen += advance(strategy, 1)
        sigmas.add(strategy.state.start["sigma"])
    counts = strategy.state.evaluations
    assert 0.5 < counts["small"] / counts["large"] < 2
    sizes = sizes_of(seen)
    assert {8, 16, 32} <= set(sizes)
    assert min(sizes) == 8
    assert sizes != sorted(sizes)  # by turns
    assert len(sigmas) > 2
    assert max(sigmas) == 0.5
    assert 0.005 <= min(sigmas) < 0.05


def test_a_start_of_bipop_with_few_candidates_ends_at_half_of_what_the_many_had():
    strategy, spent = build(restarts="bipop", dim=5), 0
    for _ in range(1500):
        before, start = strategy.state.evaluations, strategy.start
        ((number, popsize, _),) = advance(strategy, 1, rastrigin)
        spent = popsize if number > start else spent + popsize
        limit = strategy.state.start["limit"]
        if number > start and limit:
            assert limit == before["large"] // 2
            of_size = rng(5, Stream.RESTART, number, 1).random()
            largest = 2 ** strategy.state.start["doublings"]
            assert popsize == int(8 * (largest / 2) ** of_size**2)  # the paper's
        if limit:
            assert strategy.state.over or spent < limit
            assert spent < limit + popsize
    assert strategy.start > 6


def test_the_population_size_is_known_before_ask_begins_a_start():
    strategy = build(restarts="ipop")
    for _ in range(300):
        assert strategy.popsize == len(strategy.ask())
        advance(strategy, 1)


@pytest.mark.parametrize("strategy", ["cma_es", "snes", "ga", "pepg"])
def test_a_start_that_stays_below_the_score_is_over_at_its_generation(strategy):
    restarting = build(strategy=strategy, restart_if_below=-1e-30, restart_after=5)
    starts = [start for start, *_ in advance(restarting, 12)]
    assert starts == [0] * 5 + [1] * 5 + [2] * 2
    assert restarting.popsize == 8


def test_one_that_reaches_it_goes_on():
    starts = [start for start, *_ in advance(build(restart_if_below=-5.0, restart_after=5), 12)]
    assert starts == [0] * 12


def test_the_score_of_what_is_minimised_is_an_upper_bound():
    assert build(restart_if_below=5.0, minimise=True)._if_below == -5.0


def test_a_restart_begins_at_a_draw_and_the_state_holds_where():
    drawn = []

    def draw(seed):
        drawn.append(seed)
        return np.array([7.0, float(len(drawn))], np.float32)

    strategy = build(draw, restart_if_below=0.0, restart_after=2)
    advance(strategy, 3)
    assert strategy.start == 1
    again = build(None, restart_if_below=0.0, restart_after=2)
    again.state = strategy.state
    np.testing.assert_array_equal(again.centre, strategy.centre)
    assert np.abs(strategy.centre - [7, 1]).max() < 2  # after a generation with sigma 0.5
    assert len(set(drawn)) == 1


def test_without_a_draw_a_restart_begins_a_step_of_the_first_population_away():
    for draw in (None, lambda seed: np.ones(400)):  # a script's module draws the same with each seed
        strategy = build(draw, dim=400, restart_if_below=0.0, restart_after=1, strategy="snes")
        advance(strategy, 1)
        strategy.ask()
        assert (strategy.centre - 1).std() == pytest.approx(0.5, rel=0.1)


def test_starts_of_seeded_noise_share_no_key():
    strategy, keys = build(strategy="openai_es", restart_if_below=1.0, restart_after=2), []
    for _ in range(6):
        population = strategy.ask()
        keys += population.keys.tolist()
        strategy.tell(population, -np.arange(8.0))
    assert len(set(keys)) == len(keys) == 24
    assert strategy.learning_rate == 0.01
