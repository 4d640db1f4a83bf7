"""Constraints of a function: feasible results, near pycma's effort, exact on any ranks."""

import json
import math
import re
import signal
from pathlib import Path

import cma
import h5py
import numpy as np
import pytest

import mpi_es
from mpi_es import report, status
from mpi_es.config.run import STRATEGIES
from mpi_es.errors import RolloutError, UserError
from tests.launching import assert_same, exact_content, interrupt, run_here

QUIET = {"console": "silent", "tensorboard": False}
QUICK = {**QUIET, "population_size": 8, "max_iter": 40, "minimise": True, "run_dir": None}


def sphere(x):
    return float((x**2).sum())


def beyond(x):
    """x[0] is 1 or more, which is active at the best x, and x[1] at most 2, which is not."""
    return [1 - x[0], x[1] - 2]


def both(x):
    return sphere(x), beyond(x)


def evolve(function=both, x0=(3.0, 3.0, 3.0), sigma=0.5, **options):
    return mpi_es.evolve(function, x0, sigma, **QUICK | {"constraints": 2} | options)


def test_the_result_is_the_best_feasible_call():
    calls = []

    def noted(x):
        calls.append((x, *both(x)))
        return calls[-1][1:]

    result = evolve(noted)
    feasible = [(value, x) for x, value, constraints in calls if max(constraints) <= 0]
    value, x = min(feasible, key=lambda pair: pair[0])
    assert (result.feasible, result.value) == (True, value)
    np.testing.assert_array_equal(result.x, x)
    np.testing.assert_array_equal(result.constraints, beyond(x))
    assert 1 <= value < 1.1


def test_the_history_counts_what_is_feasible():
    seen = []
    result = evolve(callback=lambda generation: seen.append(generation.constraints))
    assert seen[0].shape == (8, 2)
    feasible = [int((constraints <= 0).all(axis=1).sum()) for constraints in seen]
    assert result.history["feasible"].tolist() == feasible
    np.testing.assert_array_equal(np.isnan(result.history["best"]), np.array(feasible) == 0)
    least = [np.maximum(constraints, 0).sum(axis=1).min() for constraints in seen]
    np.testing.assert_array_equal(result.history["violation"], least)
    assert (result.history["penalised"] <= result.history["penalised_min"]).all()  # the worst


def test_without_a_feasible_call_the_result_is_the_least_violation_and_says_so(capsys):
    result = evolve(lambda x: (sphere(x), [1 + sphere(x), -1.0]), max_iter=20, console="lines")
    assert not result.feasible
    assert result.constraints.tolist() == [1 + sphere(result.x), -1]
    assert 1 <= result.constraints[0] <= result.history["violation"].min()
    assert "not feasible" in repr(result)
    assert np.isnan(result.history["best"]).all()
    told = " ".join(capsys.readouterr().out.split())
    assert f"which is not feasible: the smallest violation is {result.constraints[0]:.4g}"[:50] in told


def test_a_goal_counts_feasible_values_only():
    result = evolve(goal=1.05, max_iter=300)
    assert result.reason == "target of 1.05 reached"
    assert 1 <= result.value <= 1.05
    assert evolve(goal=0.9, max_iter=60).reason == "last generation done"


def test_a_maximum_is_found_too():
    result = evolve(lambda x: (-sphere(x), beyond(x)), minimise=False, max_iter=120)
    assert -1.0001 < result.value <= -1


def disc(x):
    return [x[0] ** 2 + x[1] ** 2 - 2]


def linear(x):
    return float(x[0] + x[1] + (x[2:] ** 2).sum())


def planes(x):
    return [1 - x[0] - x[1], x[1] - x[2] - 0.5, -x[0]]


PROBLEMS = {  # function, constraints, the lowest value
    "a plane": (sphere, beyond, 1.0),
    "a disc": (linear, disc, -2.0),
    "planes": (sphere, planes, 0.5),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_optimum_is_reached_with_about_the_calls_of_pycma(name):
    function, constraints, lowest = PROBLEMS[name]
    ours, theirs = [], []
    for seed in (1, 2, 3):
        result = evolve(function, [1.5] * 5, constraints=constraints, seed=seed, max_iter=10**5)
        assert result.reason == "converged: values vary by less than 1e-11"
        assert (constraints(result.x) <= np.zeros(1)).all()
        assert lowest - 1e-12 <= result.value < lowest + 1e-5
        ours.append(result.evaluations)
        options = {"popsize": 8, "seed": seed, "verbose": -9}
        logging = {"logging": 0, "archives": False}
        _, es = cma.fmin_con2(function, [1.5] * 5, 0.5, constraints, options=options, kwargs_confit=logging)
        assert abs(es.best_feasible.f - lowest) < 1e-5
        theirs.append(es.countevals)
    assert np.median(theirs) / 1.5 < np.median(ours) < 1.5 * np.median(theirs)


def test_a_search_that_converges_where_nothing_is_feasible_says_so(capsys):
    result = evolve(
        lambda x: (float(abs(x).sum()), [1 - abs(x[0] * x[1])]),
        constraints=1,
        max_iter=10**5,
        console="lines",
    )
    assert result.reason.startswith("converged")
    assert result.history["violation"][-1] > 0.5
    told = " ".join(capsys.readouterr().out.split())
    assert re.search(r"; the last candidates violate the constraints by (1|0\.9\d+) or more", told)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_comes_near_the_constrained_optimum(strategy):
    options = {"learning_rate": 0.2} if strategy == "openai_es" else {}
    result = evolve(strategy=strategy, population_size=40, max_iter=600, **options)
    assert result.feasible
    assert 1 <= result.value < 1.05


@pytest.mark.parametrize(
    ("returned", "rule"),
    [
        ((1.0, [0.0]), "a number and an array of 2 constraints"),
        ((1.0, [[0.0, 1.0]]), "a number and an array of 2 constraints"),
        (1.0, "a number and an array of 2 constraints"),
        ((1.0, ["low", 0.0]), "a number and an array of 2 constraints"),
    ],
)
def test_what_is_no_pair_is_refused(returned, rule):
    with pytest.raises(RolloutError, match=f"expected the function to return {rule}, got "):
        evolve(lambda x: returned)


def test_a_pair_without_constraints_is_no_number():
    with pytest.raises(RolloutError, match="expected the function to return a number, got"):
        evolve(both, constraints=0)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_constraint_that_is_no_finite_number_is_a_failed_call(bad):
    def edged(x):
        return sphere(x), [1 - x[0], bad if x[1] > 3 else -1.0]

    with pytest.raises(RolloutError, match=r"expected finite constraints, got \[.*\]\nx = "):
        evolve(edged)
    result = evolve(edged, on_failure="worst", max_iter=60)
    assert result.history["failures"].any()
    assert result.value < 1.1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"constraints": -1}, "^constraints: expected a number ≥ 0, got -1"),
        ({"constraints": True}, "^constraints: expected whole number"),
        ({"function": 5, "constraints": beyond}, "^function: expected a callable, got 5"),
        ({"function": lambda x, seed: 0.0}, "^constraints: expected 0 with a function that has an argument"),
        ({"constraints": lambda x: x[9]}, "^constraints: failed at x0: IndexError"),
        (
            {"constraints": lambda x: [[1.0]]},
            r"^constraints: expected a function that returns an array \(n,\)",
        ),
        ({"constraints": lambda x: ["low"]}, "^constraints: expected numbers"),
    ],
)
def test_a_wrong_argument_is_named(options, message):
    with pytest.raises(UserError, match=message):
        evolve(**options)


def test_a_search_has_the_numbers_of_evolve(tmp_path):
    result = evolve()
    options = {"constraints": 2, "minimise": True, "population_size": 8, "max_iter": 40}
    search = mpi_es.Search([3.0] * 3, 0.5, **options)
    while not search.done:
        if search.generation in (1, 20):
            search.save(tmp_path / "search.h5")
            search = mpi_es.Search.load(tmp_path / "search.h5")
        asked = search.ask()
        search.tell([sphere(x) for x in asked], [beyond(x) for x in asked])
    np.testing.assert_array_equal(search.centre, result.centre)
    assert search.best_value == np.nanmin(result.history["best"])
    np.testing.assert_array_equal(search.best_constraints, beyond(search.best))


def test_each_start_begins_with_new_penalties(tmp_path):
    search = mpi_es.Search([3.0] * 3, constraints=2, minimise=True, population_size=8, restarts="ipop")
    starts = [0]
    while starts[-1] == 0:
        asked = search.ask()
        search.tell([sphere(x) for x in asked], [beyond(x) for x in asked])
        search.save(tmp_path / "search.h5")
        search = mpi_es.Search.load(tmp_path / "search.h5")
        content = h5py.File(tmp_path / "search.h5")
        starts = content["history/start"][()]
    assert content["constraints/lagrangian"].attrs["updates"] == 1


def test_values_told_without_their_constraints_are_refused():
    search = mpi_es.Search([3.0] * 3, constraints=2, population_size=8)
    search.ask()
    with pytest.raises(UserError, match=r"constraints of shape \(8, 2\), got \(8, 0\)"):
        search.tell([0.0] * 8)
    with pytest.raises(UserError, match="finite values, or NaN"):
        search.tell([0.0] * 8, np.full((8, 2), np.inf))


def test_other_constraints_do_not_continue_a_run(tmp_path):
    edge = 1.0
    options = {"constraints": lambda x: [edge - x[0], x[1] - 2], "run_dir": tmp_path / "run", "max_iter": 5}
    evolve(sphere, **options)
    with pytest.raises(UserError, match=r"^constraints: expected 2, with which the run began, got 1"):
        evolve(sphere, **options | {"constraints": 1})
    edge = 0.5
    with pytest.raises(
        UserError, match=r"the function has changed: at the best x it is now .*, -.*, but was"
    ):
        evolve(sphere, **options)


def test_status_and_report_show_a_run_with_constraints(tmp_path, capsys):
    evolve(lambda x: (sphere(x), [1 + sphere(x), -1.0]), run_dir=tmp_path / "run", max_iter=5)
    status.main([str(tmp_path / "run")])
    assert re.search(r"at \d, not feasible", capsys.readouterr().out)
    run_here(report, tmp_path / "run")
    assert (tmp_path / "run" / "report.html").exists()


SCRIPT = """
import json, sys, time
import numpy as np
import mpi_es

def cost(x):
    time.sleep(PAUSE)
    if x[1] > 1.2:
        raise ArithmeticError("undefined")
    return float((x**2).sum())

def limits(x):
    return [1 - x[0], 0.5 - x[1] * x[0]]

options = json.loads(sys.argv[1])
PAUSE = options.pop("pause", 0)
small = {"population_size": 9, "max_iter": 14, "seed": 3, "on_failure": "worst"}
small |= {"constraints": limits, "integers": [0, 2]}
quiet = {"tensorboard": False, "console": "silent", "checkpoint_interval": 0}
mpi_es.minimise(cost, [5.0, 1.0, -7.0], [2.0, 0.5, 3.0], **small, **quiet, **options)
"""


@pytest.mark.parametrize(("ranks", "others"), [(2, 3), (3, 1), (7, 2)])
def test_a_run_is_the_same_on_any_ranks_and_killed_with_integers_too(
    launch, tmp_path, monkeypatch, ranks, others
):
    monkeypatch.chdir(tmp_path)
    Path("script.py").write_text(SCRIPT)
    for count, directory, dispatch in ((1, "alone", "auto"), (ranks, "many", "static")):
        options = {"run_dir": directory, "dispatch": dispatch}
        assert launch(count, "script.py", json.dumps(options)).stderr == ""
    slow = ("script.py", json.dumps({"run_dir": "killed", "pause": 0.02}))
    interrupt(tmp_path / "killed", signal.SIGKILL, (ranks, *slow))
    assert launch(others, *slow).stderr == ""
    content = exact_content(Path("alone"))
    assert content["history"]["failures"].any()
    assert content["constraints"]["feasible"].any()
    assert content["constraints"]["lagrangian"]["mu"].any()
    assert_same(exact_content(Path("many")), content)
    assert_same(exact_content(Path("killed")), content)
