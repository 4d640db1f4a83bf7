import numpy as np
import pytest

from mpi_es import strategies
from mpi_es.config.run import configured
from mpi_es.errors import UserError
from mpi_es.run_file.description import to_plain
from mpi_es.strategies.noise import ComputedNoise
from mpi_es.strategies.restore import restore

OPTIONS = {
    "full": {"cma_variant": "full"},
    "separable": {"cma_variant": "separable"},
    "isotropic": {"cma_variant": "isotropic"},
    "vd": {"cma_variant": "vd"},
    "vkd": {"cma_variant": "vkd"},
    "ipop": {"restarts": "ipop"},
    "openai_es": {"strategy": "openai_es"},
    "clipup": {"strategy": "openai_es", "optimizer": "clipup"},
    "pepg": {"strategy": "pepg", "optimizer": "sgd"},
    "snes": {"strategy": "snes"},
    "cr_fm_nes": {"strategy": "cr_fm_nes"},
    "ga": {"strategy": "ga", "parents": 3},
}
DIM = 4


def make(name):
    return strategies.make(
        configured(population_size=8, **OPTIONS[name]), np.zeros(DIM), ComputedNoise(1, DIM)
    )


def stored(name, generations=3):
    """Return a state as a run file holds it."""
    strategy = make(name)
    for _ in range(generations):
        population = strategy.ask()
        rows = [population.candidate(i, ComputedNoise(1, DIM)) for i in range(len(population))]
        strategy.tell(population, -np.square(np.array(rows) - 1).sum(axis=1))
    return to_plain(strategy.state)


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("generations", [0, 1, 5])
def test_a_state_of_its_own_is_restored_to_the_bit(name, generations):
    state = stored(name, generations)
    restored = make(name)
    restore(restored, state, generations)
    for key, value in to_plain(restored.state).items():
        np.testing.assert_equal(value, state[key])


def places(state, path=()):
    """Yield the paths of all values of a state."""
    for name, value in state.items():
        if isinstance(value, dict):
            yield from places(value, (*path, name))
        else:
            yield (*path, name)


def with_value(state, path, value):
    """Return a state with another value in a place."""
    head, *rest = path
    return {**state, head: with_value(state[head], rest, value) if rest else value}


def value_at(state, path):
    for name in path:
        state = state[name]
    return state


@pytest.mark.parametrize("name", OPTIONS)
def test_a_value_of_another_shape_or_type_is_refused_wherever_it_is(name):
    state = stored(name)
    for path in places(state):
        old = value_at(state, path)
        for new in ({}, np.zeros((7, 7, 7)), None if isinstance(old, np.ndarray) else np.zeros(2)):
            if new is not None:
                with pytest.raises(UserError, match=r"^/?state.*expected"):
                    restore(make(name), with_value(state, path, new), 3)


@pytest.mark.parametrize("name", OPTIONS)
def test_numbers_that_are_none_are_refused_wherever_they_are(name):
    state = stored(name)
    for path in places(state):
        old = value_at(state, path)
        if isinstance(old, np.ndarray) and old.size and old.dtype.kind == "f":
            with pytest.raises(UserError, match=r"^/state.*(finite numbers|numbers in)"):
                restore(make(name), with_value(state, path, np.full_like(old, np.nan)), 3)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda s: s.pop("sigma"), "sigma: expected a value, got none"),
        (lambda s: s.update(more=1), "more: expected nothing of this name"),
        (lambda s: s.update(generation=2**62), "generation: expected a whole number from 0 to"),
        (lambda s: s.update(learning_rate=np.inf), "learning_rate: expected a number in"),
    ],
)
def test_what_is_missing_or_more_or_no_number_is_refused(change, why):
    state = stored("snes")
    change(state)
    with pytest.raises(UserError, match=f"^/state/{why}"):
        restore(make("snes"), state, 3)


def test_a_state_without_parents_is_refused():
    state = stored("ga")
    with pytest.raises(UserError, match=r"^/state/parents: expected one row or more, got float64 \(0, 4\)"):
        restore(make("ga"), state | {"parents": state["parents"][:0]}, 3)


def test_single_precision_is_no_excuse_for_infinity():
    state = stored("openai_es")
    with pytest.raises(UserError, match=r"^/state/centre: expected finite numbers"):
        restore(make("openai_es"), state | {"centre": np.full(DIM, np.inf, state["centre"].dtype)}, 3)


def test_a_generation_after_the_last_is_refused():
    with pytest.raises(UserError, match=r"^/state/generation: expected at most 2, got 3"):
        restore(make("snes"), stored("snes"), 2)


def test_a_start_of_a_huge_population_is_refused():
    state = stored("ipop")
    huge = with_value(state, ("start", "popsize"), 2**40)
    with pytest.raises(UserError, match=r"^/state/start/popsize: expected the population of a start"):
        restore(make("ipop"), huge, 3)
