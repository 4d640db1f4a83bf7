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
def test_a_value_of_another_shape_or_type_or_no_number_is_refused_wherever_it_is(name):
    state = stored(name)
    for path in places(state):
        old = value_at(state, path)
        wrong = [({}, "expected"), (np.zeros((7, 7, 7)), "expected")]
        if not isinstance(old, np.ndarray):
            wrong.append((np.zeros(2), "expected"))
        elif old.size and old.dtype.kind == "f":
            wrong.append((np.full_like(old, np.nan), "(finite numbers|numbers in)"))
        for new, words in wrong:
            with pytest.raises(UserError, match=rf"^/?state.*{words}"):
                restore(make(name), with_value(state, path, new), 3)


@pytest.mark.parametrize(
    ("name", "path", "value", "done", "why"),
    [
        ("snes", "sigma", None, 3, "sigma: expected a value, got none"),
        ("snes", "more", 1, 3, "more: expected nothing of this name"),
        ("snes", "generation", 2**62, 3, "generation: expected a whole number from 0 to"),
        ("snes", "generation", 3, 2, "generation: expected at most 2, got 3"),
        ("snes", "learning_rate", np.inf, 3, "learning_rate: expected a number in"),
        ("ga", "parents", np.zeros((0, 4)), 3, r"parents: expected one row or more, got float64 \(0, 4\)"),
        ("openai_es", "centre", np.full(DIM, np.inf), 3, "centre: expected finite numbers"),
        ("ipop", "start/popsize", 2**40, 3, "start/popsize: expected the population of a start"),
    ],
)
def test_what_is_missing_or_more_or_no_number_is_refused(name, path, value, done, why):
    state = with_value(stored(name), path.split("/"), value)
    if value is None:
        del state[path]
    with pytest.raises(UserError, match=f"^/state/{why}"):
        restore(make(name), state, done)
