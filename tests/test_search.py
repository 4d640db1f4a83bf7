"""mpi_es.Search: the candidates of evolve, with values that the caller tells."""

import copy
import math
import pickle
import subprocess
import sys

import numpy as np
import pytest

import mpi_es
from mpi_es.config.run import STRATEGIES
from mpi_es.errors import UserError

X0 = np.zeros(5)
FEW = {"population_size": 12, "seed": 4, "max_iter": 25}


def sphere(x):
    return float(((x - 1) ** 2).sum())


def search(**options):
    return mpi_es.Search(X0, 0.5, minimise=True, **FEW | options)


def led_to_its_end(one, function=sphere):
    while not one.done:
        one.tell([function(x) for x in one.ask()])
    return one


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_it_has_the_numbers_of_evolve(strategy):
    seen = []
    result = mpi_es.minimise(
        lambda x: seen.append(x) or sphere(x),
        X0,
        0.5,
        strategy=strategy,
        run_dir=None,
        console="silent",
        **FEW,
    )
    asked = []
    one = led_to_its_end(search(strategy=strategy), lambda x: asked.append(x) or sphere(x))
    np.testing.assert_array_equal(asked, seen[:-1])  # evolve calls its mean at the end
    np.testing.assert_array_equal(one.centre, result.centre)
    assert one.best_value == result.history["best"].min() == sphere(one.best)
    assert (one.done, one.generation) == (result.reason, 25)


@pytest.mark.parametrize("strategy", [*STRATEGIES, "mpi_es.strategies.snes:SNES"])
def test_a_saved_search_continues_exactly(tmp_path, strategy):
    whole, first = led_to_its_end(search(strategy=strategy)), search(strategy=strategy)
    for _ in range(9):
        first.tell([sphere(x) for x in first.ask()])
    first.ask()  # is lost, and asked again
    first.save(tmp_path / "search.h5")
    again = mpi_es.Search.load(tmp_path / "search.h5")
    assert (again.generation, again.best_value) == (9, first.best_value)
    led_to_its_end(again)
    np.testing.assert_array_equal(again.centre, whole.centre)
    np.testing.assert_array_equal(again.best, whole.best)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_copy_continues_exactly_and_apart(strategy):
    one = search(strategy=strategy)
    one.tell([sphere(x) for x in one.ask()])
    asked = one.ask()
    for again in (copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        again.tell([sphere(x) for x in asked])
        led_to_its_end(again)
    assert one.generation == 1
    one.tell([sphere(x) for x in asked])
    np.testing.assert_array_equal(led_to_its_end(one).centre, again.centre)


@pytest.mark.parametrize("generation", [1, 3])
def test_one_with_two_point_steps_is_copied_while_values_are_awaited(generation):
    one = search(sigma_rule="two-point")
    for _ in range(generation):
        one.tell([sphere(x) for x in one.ask()])
    asked = one.ask()
    again = copy.deepcopy(one)
    np.testing.assert_array_equal(again.ask(), asked)
    for each in (one, again):
        each.tell([sphere(x) for x in asked])
    np.testing.assert_array_equal(led_to_its_end(one).centre, led_to_its_end(again).centre)


def test_candidates_are_the_same_until_their_values_are_told():
    one = search()
    np.testing.assert_array_equal(one.ask(), one.ask())


def test_a_generation_of_nan_is_refused_and_awaited_further():
    one = search()
    asked = one.ask()
    with pytest.raises(UserError, match=r"Search.tell: expected a value that is not NaN"):
        one.tell(np.full(len(asked), np.nan))
    one.tell([sphere(x) for x in asked])
    assert one.generation == 1


def test_a_search_that_asked_nothing_is_saved_too(tmp_path):
    one = search()
    assert (one.best, math.isnan(one.best_value), one.done) == (None, True, "")
    one.save(tmp_path / "search.h5")
    np.testing.assert_array_equal(mpi_es.Search.load(tmp_path / "search.h5").ask(), one.ask())


def test_it_ends_at_a_goal_and_where_it_has_converged():
    assert led_to_its_end(search(goal=0.1)).done == "target of 0.1 reached"
    assert led_to_its_end(search(max_iter=10**5)).done.startswith("converged")


def test_candidates_lie_within_bounds_and_are_as_wide_as_sigma():
    one = mpi_es.Search([0.5, 50.0], [0.1, 10.0], bounds=([0, 0], [1, 100]), population_size=1000)
    asked = one.ask()
    np.testing.assert_allclose(asked.std(axis=0), [0.1, 10.0], rtol=0.1)
    assert (asked >= 0).all()
    assert (asked <= [1, 100]).all()


@pytest.mark.parametrize("lower", [0.0, 0.5])
def test_an_optimum_on_bounds_costs_no_more_than_one_inside(lower):
    def cost(x):
        return ((x * [1, 30, 1000]) ** 2).sum()

    def calls(bounds, lowest):
        search = mpi_es.Search([1.0] * 3, 0.3, minimise=True, bounds=bounds, population_size=8, max_iter=500)
        while not search.done and not search.best_value - lowest < 1e-9:
            search.tell([cost(x) for x in search.ask()])
        return 8 * search.generation

    assert calls((lower, 5), cost(np.full(3, lower))) < 1.2 * calls(None, 0.0)


def test_the_constraints_of_the_best_are_a_copy():
    one = mpi_es.Search([2.0], 0.5, constraints=1, population_size=4)
    x = one.ask()
    one.tell(x[:, 0], -x)
    one.best_constraints[:] = -99
    assert one.best_constraints == -one.best


def test_a_value_of_nan_ranks_last():
    one = led_to_its_end(search(max_iter=60), lambda x: math.nan if x[0] > 0.3 else sphere(x))
    assert 0.49 < one.best_value < 0.6


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        ([1.0] * 11, r"values of shape \(12,\), got \(11,\)"),
        ([-math.inf] * 12, "finite values, or NaN of calls that failed, got -inf"),
        (["a"] * 12, r"a number for each candidate, got \"\['a'"),
        ([[1.0, 2.0], *[1.0] * 11], "a number for each candidate"),
    ],
)
def test_values_that_nothing_can_be_learnt_from_are_refused(values, rule):
    one = search()
    one.ask()
    with pytest.raises(UserError, match=f"Search.tell: expected {rule}"):
        one.tell(values)


def test_a_file_that_names_a_strategy_is_loaded_with_a_line_that_says_so(tmp_path, capsys):
    named = "tests.strategies.user_strategies:BestQuarter"
    search(strategy=named).save(tmp_path / "search.h5")
    assert led_to_its_end(mpi_es.Search.load(tmp_path / "search.h5")).best_value < 1
    line = f"{tmp_path}/search.h5 names code, which is imported: {named} (--strategy)\n"
    assert capsys.readouterr().err == line


def test_values_before_candidates_are_refused():
    one = search()
    with pytest.raises(UserError, match="expected a call of ask first"):
        one.tell([0.0] * 12)
    one.tell([sphere(x) for x in one.ask()])
    with pytest.raises(UserError, match="expected a call of ask first"):
        one.tell([0.0] * 12)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("dispatch", "static"),
        ("console", "lines"),
        ("num_rollouts", 2),
        ("env", "CartPole-v1"),
        ("popsiz", 1),
    ],
)
def test_options_of_runs_and_unknown_ones_are_refused(option, value):
    with pytest.raises(UserError, match=rf"^(Search: expected one of|{option}: expected to be left out)"):
        search(**{option: value})


def test_a_file_of_something_else_is_refused(tmp_path):
    (tmp_path / "other.h5").write_bytes(b"other")
    with pytest.raises(UserError, match=r"other.h5: expected a run file of mpi_es"):
        mpi_es.Search.load(tmp_path / "other.h5")
    with pytest.raises(UserError, match=r"Search.load: expected a file of Search.save, or the directory"):
        mpi_es.Search.load(tmp_path / "nothing")


def test_a_run_of_evolve_may_be_continued_by_hand(tmp_path):
    run = mpi_es.minimise(sphere, X0, 0.5, run_dir=tmp_path / "run", console="silent", **FEW)
    one = mpi_es.Search.load(tmp_path / "run" / "run.h5")
    assert (one.done, one.best_value) == (run.reason, run.value)


def test_it_is_continued_without_a_word(tmp_path, capfd):
    mpi_es.minimise(sphere, X0, 0.5, run_dir=tmp_path / "run", **FEW)
    one = mpi_es.Search.load(tmp_path / "run")
    capfd.readouterr()
    one.tell([sphere(x) for x in one.ask()])
    assert capfd.readouterr() == ("", "")


def test_the_run_of_a_random_function_is_not_continued_by_hand(tmp_path):
    options = FEW | {"max_iter": 2, "console": "silent", "run_dir": tmp_path / "run"}
    mpi_es.minimise(lambda x, seed: sphere(x) + seed % 7, X0, 0.5, **options)
    with pytest.raises(UserError, match=r"Search.load: expected a search whose function takes no seed"):
        mpi_es.Search.load(tmp_path / "run" / "run.h5")


def test_it_needs_no_mpi():
    program = "import sys, mpi_es; mpi_es.Search([0.0] * 3).ask(); print('mpi4py' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
