"""What holds for every registered strategy; a new one is tested by being registered."""

import copy
import math
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pytest

from mpi_es.config.parts import changed
from mpi_es.config.run import STRATEGIES, configured
from mpi_es.errors import UserError
from mpi_es.strategies import check, class_of, make
from mpi_es.strategies.base import Population, Seeded, Strategy
from mpi_es.strategies.noise import ComputedNoise
from tests.launching import assert_same

TARGET = np.array([0.5, 0.1, -0.3])
X0 = np.array([-0.2, 0.4, 0.0])
CONFIG = configured(seed=5, population_size=8, init_sigma=0.1)
NOISE = ComputedNoise(CONFIG.seed, len(X0))
# Whatever a strategy can do between two generations.
VARIANTS = [{"strategy": name} for name in STRATEGIES]
VARIANTS += [
    {"strategy": "cma_es", "cma_variant": v} for v in ("full", "separable", "isotropic", "vd", "vkd")
]
VARIANTS += [{"strategy": "openai_es", "lr_decay": 0.9, "sigma_decay": 0.9, "weight_decay": 0.01}]
VARIANTS += [{"strategy": "pepg", "lr_decay": 0.9, "optimizer": "clipup", "shaping": "log-rank"}]
VARIANTS += [{"strategy": "openai_es", "optimizer": "sgd", "shaping": "raw"}]
LOW = {"restart_if_below": 1.0, "restart_after": 3}  # which no start reaches: fitness is below 0
VARIANTS += [LOW | options for options in ({}, {"restarts": "bipop"}, {"strategy": "openai_es"})]
VARIANTS += [{"restarts": "ipop"}, LOW | {"strategy": "ga"}]
USERS = "tests.strategies.user_strategies"
VARIANTS += [{"strategy": f"{USERS}:BestQuarter"}, {"strategy": f"{USERS}:Ascent"}]

each = pytest.mark.parametrize("name", STRATEGIES)
each_variant = pytest.mark.parametrize("options", VARIANTS, ids=lambda v: "-".join(map(str, v.values())))


def build(**options: Any) -> Strategy:
    return make(changed(CONFIG, **options), X0, NOISE)


def rows_of(population: Population) -> np.ndarray:
    if isinstance(population, Seeded):
        return np.stack([population.candidate(i, NOISE) for i in range(len(population))])
    return np.stack([population.candidate(i) for i in range(len(population))])


def generation(strategy: Strategy) -> np.ndarray:
    """Ask and tell once; return the candidates."""
    population = strategy.ask()
    rows = rows_of(population)
    strategy.tell(population, -np.square(rows.astype(np.float64) - TARGET).sum(axis=1))
    return rows


@each
def test_ask_returns_popsize_candidates_of_the_dimension(name: str) -> None:
    strategy = build(strategy=name)
    population = strategy.ask()
    assert strategy.popsize == len(population) == CONFIG.strategy.population_size
    rows = rows_of(population)
    assert rows.shape == (8, 3)
    strategy.tell(population, np.arange(8, dtype=np.float32))
    np.testing.assert_array_equal(rows_of(population), rows)


@pytest.mark.parametrize("name", [name for name in STRATEGIES if name != "cma_es"])  # it ranks by place
def test_equal_fitness_moves_nothing(name: str) -> None:
    strategy = build(strategy=name)
    strategy.tell(strategy.ask(), np.full(8, 7.0))
    np.testing.assert_allclose(strategy.centre, X0, atol=1e-15)
    assert strategy.sigma == pytest.approx(0.1, rel=1e-12)


@each
def test_it_starts_at_x0_with_the_given_sigma(name: str) -> None:
    strategy = build(strategy=name, population_size=400)
    np.testing.assert_allclose(strategy.centre, X0)
    assert strategy.sigma == pytest.approx(0.1, rel=1e-4)  # pycma's first deviations differ a little
    np.testing.assert_allclose(rows_of(strategy.ask()).std(axis=0), 0.1, rtol=0.2)


@each_variant
@pytest.mark.parametrize("saved_at", [0, 1, 7])
def test_an_assigned_state_continues_bit_for_bit_and_stays(options: dict[str, Any], saved_at: int) -> None:
    first = build(**options)
    for _ in range(saved_at):
        generation(first)
    second = build(**options)
    generation(second)
    state = first.state
    before = copy.deepcopy(state)
    second.state = state
    for _ in range(20):
        assert generation(second).tobytes() == generation(first).tobytes()
    assert second.centre.tobytes() == first.centre.tobytes()
    assert second.sigma == first.sigma
    assert_same(second.state, first.state)
    assert_same(state, before)  # though both went on from it


@each_variant
def test_a_learning_rate_in_the_state_is_told(options: dict[str, Any]) -> None:
    strategy = build(**options)
    generation(strategy)
    inner = getattr(strategy.state, "inner", vars(strategy.state))  # of one with restarts
    known = inner.get("learning_rate", math.nan)
    assert getattr(strategy, "learning_rate", math.nan) == pytest.approx(known, rel=0, nan_ok=True)


@each_variant
def test_a_state_is_read_between_two_generations_without_effect(options: dict[str, Any]) -> None:
    watched, alone = build(**options), build(**options)
    for _ in range(10):
        _ = watched.state, watched.centre, watched.sigma
        assert generation(watched).tobytes() == generation(alone).tobytes()


@each_variant
def test_a_state_is_of_what_a_file_can_hold(options: dict[str, Any]) -> None:
    strategy = build(**options)
    generation(strategy)

    def check(value: Any) -> None:
        if isinstance(value, dict):
            assert all(isinstance(key, str) for key in value)
            for inner in value.values():
                check(inner)
        elif isinstance(value, np.ndarray):
            assert value.dtype.kind in "biuf"
        else:
            assert type(value) in (int, float, bool, str)

    assert is_dataclass(strategy.state)
    for field in fields(strategy.state):
        check(getattr(strategy.state, field.name))


@each
def test_the_seed_names_the_population(name: str) -> None:
    asked = []
    for seed in (1, 1, 2):
        config = changed(CONFIG, strategy=name, seed=seed)
        population = make(config, X0, ComputedNoise(seed, len(X0))).ask()
        asked.append(population.keys if isinstance(population, Seeded) else population.rows)
    np.testing.assert_array_equal(asked[0], asked[1])
    if not isinstance(population, Seeded):  # the seed of keys is their noise's
        assert np.abs(asked[0] - asked[2]).max() > 0


@each
def test_generations_differ(name: str) -> None:
    strategy = build(strategy=name)
    assert np.abs(generation(strategy) - generation(strategy)).min() > 0


@each
def test_it_climbs_a_quadratic(name: str) -> None:
    """The warm-up of the PyTorch-ES suite, whose population is 50, whose sigma 0.1."""
    strategy = build(strategy=name, population_size=50)
    for _ in range(200):
        generation(strategy)
    assert -np.square(strategy.centre - TARGET).sum() > -1e-4


@each_variant
def test_numpys_global_generator_is_left_alone(options: dict[str, Any]) -> None:
    np.random.seed(11)  # noqa: NPY002
    expected = np.random.random()  # noqa: NPY002
    np.random.seed(11)  # noqa: NPY002
    strategy = build(**options)
    for _ in range(3):
        generation(strategy)
    assert np.random.random() == expected  # noqa: NPY002


PAIRS = "--population-size: expected an even number of . or more, got"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"strategy": "open_es"}, r"--strategy: expected one of .*did you mean 'openai_es'\?"),
        (
            {"strategy": "cma_es", "population_size": 3},
            "--population-size: expected 4 or more for cma_es, got",
        ),
        ({"strategy": "snes", "population_size": 1}, "--population-size: expected 2 or more for snes, got 1"),
        ({"strategy": "ga", "population_size": 1}, "--population-size: expected 2 or more for ga: .*, got 1"),
        *(
            ({"strategy": name, "population_size": size}, f"{PAIRS} {size}")
            for name in ("cr_fm_nes", "openai_es", "pepg")
            for size in (1, 7)
        ),
        ({"strategy": "cr_fm_nes", "population_size": 2}, f"{PAIRS} 2"),
        ({"strategy": "pepg", "population_size": 2}, f"{PAIRS} 2"),
        ({"strategy": "ga", "parents": 9}, "--parents: expected at most --population-size 8, got 9"),
        ({"strategy": "pepg", "sigma_max_change": 1.0}, r"--sigma-max-change: expected a number in \[0, 1\)"),
        (
            {"strategy": "openai_es", "num_interactions": 100, "popsize_max": 7},
            "--popsize-max: expected 0, or at least --population-size 8, got 7",
        ),
    ],
)
def test_a_mistake_is_refused(options: dict[str, Any], why: str) -> None:
    with pytest.raises(UserError, match=why):
        build(**options)


@each
def test_pairs_share_episode_seeds_only_where_there_are_pairs(name: str) -> None:
    config = configured(strategy=name, episode_seeds="paired", population_size=6)
    if not class_of(config.strategy).mirrored:
        with pytest.raises(UserError, match="--episode-seeds: expected independent or common with"):
            check(config)
        return
    check(config)
    strategy = make(config, np.zeros(3), NOISE)
    rows = rows_of(strategy.ask())
    np.testing.assert_allclose(rows[0::2], -rows[1::2], atol=1e-6)
    with pytest.raises(UserError, match=f"{PAIRS} 7"):
        build(strategy=name, population_size=7)


@each
def test_only_what_can_ask_for_more_may_have_a_number_of_interactions(name: str) -> None:
    if hasattr(build(strategy=name), "ask_more"):
        assert build(strategy=name, num_interactions=100).options.num_interactions == 100
        return
    rule = f"expected to be left out with --strategy {name}: it is an option of openai_es or pepg or snes"
    with pytest.raises(UserError, match=f"--num-interactions: {rule}"):
        build(strategy=name, num_interactions=100)
