"""Integers among the parameters of a function, in its own units."""

import numpy as np
import pytest

import mpi_es
from mpi_es import train
from mpi_es.errors import UserError
from tests.launching import run_here

QUIET = {"console": "silent", "tensorboard": False}
QUICK = {**QUIET, "population_size": 12, "max_iter": 300, "minimise": True, "run_dir": None}
BEST = np.array([3.0, 0.4, -2.0])


def cost(x):
    return float(((x - BEST) ** 2).sum())


def evolve(function=cost, x0=(0.4, 0.0, 0.0), sigma=1.0, **options):
    return mpi_es.evolve(function, x0, sigma, **QUICK | {"integers": [0, 2]} | options)


def test_every_call_gets_integers_and_the_best_is_found():
    seen = []
    result = evolve(lambda x: seen.append(x) or cost(x))
    whole = np.array(seen)[:, [0, 2]]
    np.testing.assert_array_equal(whole, np.round(whole))
    assert not np.signbit(whole[whole == 0]).any()
    np.testing.assert_allclose(result.x, BEST, atol=1e-5)
    assert (result.centre[[0, 2]] == BEST[[0, 2]]).all()


def test_the_others_converge_and_end_the_run():
    result = evolve(max_iter=10**5, tolfun=0)
    assert result.reason == "converged: no parameter varies by 1e-11 among the candidates"


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_sigma_and_integers_keep_their_units(seed):
    best = np.array([120.0, 0.004, -2.0])
    result = evolve(
        lambda x: float((((x - best) / [50, 0.001, 1]) ** 2).sum()),
        [10.0, 0.0, 0.0],
        [50.0, 0.001, 1.0],
        max_iter=600,
        seed=seed,
    )
    np.testing.assert_allclose(result.x, best, rtol=1e-4)


def test_bounds_of_integers_are_rounded_inwards():
    seen = []
    result = evolve(lambda x: seen.append(x) or cost(x), bounds=([-0.5, None, -1.5], [2.9, None, 1.5]))
    low, high = np.min(seen, axis=0), np.max(seen, axis=0)
    assert [low[0], high[0], low[2], high[2]] == [0, 2, -1, 1]
    np.testing.assert_allclose(result.x, [2, 0.4, -1], atol=1e-5)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_bits_are_set_one_after_the_other(seed):
    """The mean stays within the bounds, beyond which -1 counts as 1, and 2 as 0."""

    def after_the_leading_ones(x):
        return 20 - np.append(x, 0).argmin()

    bits = {"integers": range(20), "bounds": (0, 1), "goal": 0, "seed": seed, "max_iter": 60}
    assert evolve(after_the_leading_ones, [0.5] * 20, 0.3, **bits).value == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"integers": [3]}, r"^integers: expected indices from 0 to 2, got \[3\]"),
        ({"integers": [-1]}, r"^integers: expected indices from 0 to 2, got \[-1\]"),
        ({"integers": [0.5]}, "^integers: expected"),
        ({"integers": 0}, "^integers: expected"),
        ({"strategy": "snes"}, r"^integers: expected none, except with strategy cma_es, got \[0, 2\]"),
        ({"cma_variant": "vd"}, "^cma_variant: expected auto, full, separable or isotropic with integers"),
        ({"x0": [0.5] * 3, "bounds": (0.2, 0.8)}, "^bounds: .*; those of integers are rounded inwards"),
    ],
)
def test_a_wrong_argument_is_named(options, message):
    with pytest.raises(UserError, match=message):
        evolve(**options)


@pytest.mark.parametrize(
    "integers", [range(0, 3, 2), (0, 2), np.array([0, 2]), [2, 0, 0], {0, 2}, [*np.array([0, 2])]]
)
def test_indices_may_be_of_any_type(integers):
    np.testing.assert_array_equal(evolve(integers=integers, max_iter=20).x, evolve(max_iter=20).x)


@pytest.mark.parametrize("restarts", ["none", "bipop"])
def test_a_search_has_the_numbers_of_evolve(tmp_path, restarts):
    options = {"integers": [0, 2], "minimise": True, "population_size": 12, "restarts": restarts, "seed": 5}
    result = evolve(max_iter=150, **options)
    search = mpi_es.Search([0.4, 0.0, 0.0], 1.0, max_iter=150, **options)
    while not search.done:
        if search.generation in (1, 60):
            search.save(tmp_path / "search.h5")
            search = mpi_es.Search.load(tmp_path / "search.h5")
        search.tell([cost(x) for x in search.ask()])
    np.testing.assert_array_equal(search.centre, result.centre)
    assert search.best_value == result.history["best"].min()


def test_the_command_line_has_integers_and_constraints(tmp_path):
    function = ("--function", "tests.strategies.test_constraints:both", "--x0", 3, "--dim", 3, "--minimise")
    options = ("--constraints", 2, "--integers", 0, 1, "--population-size", 8, "--max-iter", 30)
    run_here(train, *function, *options, "--console", "silent", "--no-tensorboard", "--run-dir", tmp_path)
    content = mpi_es.load_run(tmp_path)
    assert content["best"]["candidate"][:2].tolist() == [1, 0]
    assert content["constraints"]["of_best"].tolist() == [0, -2]


def test_a_single_integer_is_refused():
    with pytest.raises(UserError, match=r"^integers: expected none, since there is no other parameter"):
        mpi_es.Search([5.0], 1.0, integers=[0])
