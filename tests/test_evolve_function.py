"""mpi_es.evolve as scripts call it: alone, on many ranks, killed and gone on with."""

import json
import math
import os
import re
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from pathlib import Path

import numpy as np
import pytest

import mpi_es
from mpi_es import evaluate, evolve_function, export, report, status, strategies, train
from mpi_es.config.run import STRATEGIES, configured
from mpi_es.errors import RolloutError, UserError
from mpi_es.scripts import directories
from mpi_es.seeds import FIRST_HELD_OUT_SEED
from mpi_es.status import generations
from tests.faults.survivors import strike, survivors
from tests.launching import LIMIT, ROOT, assert_same, call, exact_content, interrupt, run_here, start

SCRIPT = """
import json, sys, time
import numpy as np
import mpi_es

def sphere(x):
    time.sleep(PAUSE)
    if x[0] > FAILS:
        raise ArithmeticError("undefined")
    return float(((x - 1) ** 2).sum())

options = json.loads(sys.argv[1])
PAUSE, FAILS = options.pop("pause", 0), options.pop("fails", np.inf)
times = options.pop("times", 1)
for _ in range(times):
    result = mpi_es.evolve(sphere, np.zeros(3), 0.5, minimise=True, population_size=6, max_iter=12, seed=3,
                           tensorboard=False, **options)
lines = [result.x, result.value, result.centre, result.value_of_centre, result.history["best"]]
words = [mpi_es.rank(), *[np.asarray(line).tobytes().hex() for line in lines], result.evaluations]
sys.stdout.write(" ".join(map(str, words)) + "\\n")  # at once, lest lines of ranks mix
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A directory of its own for runs/, and a script in it."""
    (tmp_path / "sphere.py").write_text(SCRIPT)
    monkeypatch.chdir(tmp_path)
    directories.CALLS.clear()


def sphere(x):
    return float(((x - 1) ** 2).sum())


def noisy(x, seed):
    return sphere(x) + 0.01 * np.random.default_rng(seed).normal()


QUICK = {"population_size": 8, "max_iter": 30, "tensorboard": False, "console": "silent"}


def evolve(function=sphere, x0=(0.0, 0.0, 0.0), sigma=0.5, **options):
    minimise = options.pop("minimise", True)
    return mpi_es.evolve(function, x0, sigma, minimise=minimise, **QUICK | options)


def lines_of(out):
    """Return what each rank printed last, without its number."""
    found = [line.split(" ", 1) for line in out.splitlines() if line.split(" ", 1)[0].isdigit()]
    return {int(rank): line for rank, line in found}


def script(**options):
    return ("sphere.py", json.dumps({"console": "silent", "checkpoint_interval": 0} | options))


# Alone


def test_the_best_of_all_calls_is_the_result_and_the_mean_beside_it():
    seen = []

    def remembered(x):
        seen.append(x.copy())
        return sphere(x)

    result = evolve(remembered)
    values = [sphere(x) for x in seen]
    assert result.value == min(values) == sphere(result.x)
    assert result.x.tobytes() == seen[int(np.argmin(values))].tobytes()
    assert result.x.dtype == result.centre.dtype == np.float64
    assert result.value_of_centre == sphere(result.centre) == values[-1]
    assert result.evaluations == len(seen) == 30 * 8 + 1
    assert result.reason == "last generation done"


def test_runs_without_a_directory_of_their_own_that_begin_at_once_get_one_each():
    config = evolve_function.config_of(sphere, {}, {})
    with ThreadPoolExecutor(8) as threads:
        made = [*threads.map(lambda _: directories.new_directory(config), range(40))]
    assert len({*made}) == 40
    assert evolve().run_dir not in map(Path, made)


def test_the_history_has_the_functions_own_values():
    result = evolve()
    assert (result.history["best"] <= result.history["mean"]).all()
    assert (result.history["mean"] <= result.history["min"]).all()  # the worst
    np.testing.assert_array_equal(result.history["generation"], np.arange(1, 31))
    content = mpi_es.load_run(result.run_dir)
    np.testing.assert_array_equal(content["history"]["best"], -result.history["best"])
    np.testing.assert_array_equal(content["best"]["candidate"], result.x)
    np.testing.assert_array_equal(content["problem"]["x0"], np.zeros(3))
    options = (result.run_dir / "config.toml").read_text()
    assert options.startswith("# The options of this run, which a script started.\n")
    assert 'function = "tests.test_evolve_function:sphere"' in options


def test_what_is_maximised_goes_up():
    up = evolve(lambda x: -sphere(x), minimise=False)
    assert up.value == -sphere(up.x)
    assert up.value == -evolve().value


def test_a_value_of_0_has_no_sign(capsys):
    result = evolve(lambda x: 0.0, max_iter=2, minimise=True, console="lines")
    zeros = [result.value, result.value_of_centre, *result.history["best"], *result.history["mean"]]
    assert not np.signbit(zeros).any()
    assert " -0 " not in capsys.readouterr().out


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_minimises_in_double_precision(name):
    lowers_rate = strategies.step_option(configured(strategy=name).strategy) == "--learning-rate"
    rate = {"learning_rate": 0.2} if lowers_rate else {}
    result = evolve(strategy=name, max_iter=60, **rate)
    assert result.value < 0.05
    assert (result.x != result.x.astype(np.float32)).any()


def test_a_goal_ends_the_run_when_it_was_held_so_many_times():
    once = evolve(goal=0.01, max_iter=200)
    held = evolve(goal=0.01, goal_times=3, max_iter=200)
    assert once.history["best"][-1] <= 0.01 < once.history["best"][:-1].min()
    assert once.reason == "target of 0.01 reached"
    assert held.reason == "target of 0.01 reached 3 times in a row"
    reached = held.history["best"] <= 0.01
    assert reached[-3:].all()
    assert not any(reached[i : i + 3].all() for i in range(len(reached) - 3))


def test_bounds_hold_for_every_call_and_for_the_result():
    seen = []

    def remembered(x):
        seen.append(x)
        return sphere(x)

    result = evolve(remembered, bounds=(None, [0.5, 2.0, 0.0]))
    assert np.max(seen, axis=0).tolist() <= [0.5, 2.0, 0.0]
    np.testing.assert_allclose(result.x, [0.5, 1.0, 0.0], atol=0.1)
    np.testing.assert_allclose(result.centre, [0.5, 1.0, 0.0], atol=0.2)


def test_a_random_function_is_told_apart_by_held_out_seeds():
    result = evolve(noisy, num_eval_rollouts=5, eval_every=10)
    content = mpi_es.load_run(result.run_dir)
    assert content["evaluations"]["generation"].tolist() == [10, 20, 30]
    assert content["evaluations"]["returns"].shape == (3, 5)
    assert result.value == -content["evaluations"]["returns"].mean(axis=1).max()
    assert result.evaluations == 30 * 8 + 15


def test_a_run_without_a_name_is_a_new_one_and_a_named_one_is_continued(tmp_path):
    runs = [evolve(max_iter=count).run_dir for count in (2, 3)]
    assert [str(run) for run in runs] == [f"runs/{__name__}-sphere-cma_es-1143{end}" for end in ("", "-2")]
    named = [evolve(max_iter=count, run_dir=tmp_path / "mine") for count in (5, 9, 9)]
    assert [len(result.history["best"]) for result in named] == [5, 9, 9]
    assert named[2].reason == "last generation done"
    whole = evolve(max_iter=9)
    assert whole.history["mean"].tobytes() == named[1].history["mean"].tobytes()
    assert (whole.x == named[1].x).all()


def test_a_run_is_not_continued_with_another_beginning(tmp_path):
    run_dir = tmp_path / "mine"
    evolve(max_iter=2, run_dir=run_dir, bounds=(-5, 5))
    for changed in ({"x0": [0.0, 0.0, 0.1]}, {"bounds": (-5, 6)}, {"x0": [0.0]}):
        with pytest.raises(UserError, match=r"(x0 differs|bounds differ) from the saved run in "):
            evolve(max_iter=3, run_dir=run_dir, **{"bounds": (-5, 5)} | changed)
    with pytest.raises(UserError, match=r"^population_size"):
        evolve(max_iter=3, run_dir=run_dir, bounds=(-5, 5), population_size=10)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"population": 8}, "evolve: expected one of .*, got 'population'; did you mean 'population_size'"),
        ({"dim": 3}, "evolve: expected one of .*, got 'dim'"),
        ({"env": "CartPole-v1"}, "env: expected to be left out, as it has no effect"),
        ({"learning_rate": 0.1}, "learning_rate: expected to be left out with .*cma_es"),
        ({"population_size": 8.5}, "population_size: expected whole number ≥ 1, got 8.5"),
        ({"seed": True}, "seed: expected whole number ≥ 0, got True"),
        ({"seed": -1}, "^seed: expected"),
        ({"dispatch": "Dynamic"}, "^dispatch: expected one of auto, dynamic, static, got 'Dynamic'"),
        ({"restarts": "IPOP"}, "^restarts: expected one of .*ipop.*, got 'IPOP'"),
        ({"x0": []}, "^x0: expected a vector of finite numbers"),
        ({"x0": 1.0}, "^x0: expected a vector of finite numbers, got '1.0'"),
        ({"run_dir": False}, "^run_dir: expected a path, or None for no files, got False"),
        ({"bounds": 3.0}, "bounds: expected a lower and an upper bound, or a pair .*, got '3.0'"),
        ({"strategy": "cma"}, "^strategy: expected"),
        ({"sigma": -1.0}, "^sigma: expected"),
        ({"sigma": "wide"}, "^sigma: expected number > 0, got 'wide'"),
        ({"sigma": []}, r"^sigma: expected numbers above 0, got \[\]"),
        ({"sigma": [1, math.inf, 1]}, r"^sigma: expected numbers above 0, got \[1.0, inf, 1.0\]"),
        ({"goal": "low"}, "^goal: expected number or None, got 'low'"),
        ({"goal_times": 0}, "^goal_times: expected"),
        ({"minimise": "yes"}, "^minimise: expected true or false, got 'yes'"),
        ({"population_size": 1}, "^population_size: expected 4 or more for cma_es, got 1"),
        ({"num_rollouts": 5}, "^num_rollouts: expected to be left out, .* that has no argument `seed`"),
        ({"ranks_per_call": 2}, "^ranks_per_call: expected to be left out, .* that has no argument `comm`"),
        ({"call_dirs": "all"}, "^call_dirs: expected to be left out, .* that has no argument `directory`"),
        ({"bounds": (1, 2)}, "^x0: expected numbers within bounds"),
    ],
)
def test_a_wrong_argument_is_named(options, message):
    with pytest.raises(UserError, match=message):
        evolve(**options)


def test_minimise_does_not_maximise():
    with pytest.raises(UserError, match=r"expected maximize to be left out; mpi_es\.evolve maximises"):
        mpi_es.minimise(sum, [1.0], maximize=True)


def test_values_near_the_largest_number_warn_nobody(recwarn):
    evolve(lambda x: 1e308 * (x**2).sum() if (x**2).sum() < 1 else 1e308, max_iter=3)
    evolve(lambda x: sys.float_info.max if x[0] > 0.1 else x[0], max_iter=3)
    assert not recwarn.list


def test_numbers_of_numpy_are_options_too(tmp_path):
    result = evolve(seed=np.int64(4), sigma=np.float32(0.5), max_iter=np.int32(2), run_dir=tmp_path / "run")
    assert mpi_es.load_run(result.run_dir)["config"]["seed"] == 4
    assert "seed = 4\n" in (tmp_path / "run" / "config.toml").read_text()


def test_a_search_that_learns_nothing_begins_anew(tmp_path):
    never = {"minimise": False, "restart_if_below": 1e9, "restart_after": 2}
    result = evolve(**never, max_iter=5, run_dir=tmp_path / "run")
    assert result.history["start"].tolist() == [0, 0, 1, 1, 2]


MANY = """
import glob, mpi_es

def left_over():
    commands = [open(path, "rb").read() for path in glob.glob("/proc/self/task/*/children")]
    children = [child for line in commands for child in line.split()]
    shared = [line for line in open("/proc/self/maps") if "shm" in line]
    return len(children), len(shared)

options = dict(strategy="openai_es", population_size=4, max_iter=2, tensorboard=False, console="silent")
counts = []
for seed in range(4):
    mpi_es.evolve(lambda x: -float(x @ x), [1.0] * 4, **options, evaluation_timeout=900.0, seed=seed)
    counts.append(left_over())
assert counts[3] == counts[0], counts
assert counts[3][0] == 0, counts
"""


def test_many_searches_leave_no_helpers_and_no_memory_behind(launch, tmp_path):
    (tmp_path / "many.py").write_text(MANY)
    done = launch(2, "many.py", cwd=tmp_path)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "")


def test_names_offered_for_a_wrong_one_concern_functions():
    with pytest.raises(UserError, match="population_size") as caught:
        evolve(popsize=8)
    words = {*str(caught.value).replace(",", " ").split()}
    assert not {"policy", "patch_size", "envs_per_rank", "x0"} & words


def test_a_function_is_named_after_its_place():
    class Scaled:
        def cost(self, x):
            return sphere(x)

    for function, name in ((Scaled().cost, "locals_Scaled_cost"), (partial(noisy, seed=1), "noisy")):
        assert evolve(function, max_iter=1).run_dir.name.endswith(f"{name}-cma_es-1143")


def test_an_error_of_the_function_reaches_the_caller():
    with pytest.raises(RolloutError, match="candidate 0: ZeroDivisionError"):
        evolve(lambda x: 1 / 0)
    assert evolve().value < 0.1


def test_a_function_may_change_the_working_directory(tmp_path, monkeypatch):
    def moving(x):
        monkeypatch.chdir("/")
        return sphere(x)

    evolve(moving, max_iter=3, run_dir="run", checkpoint_interval=0)
    assert len(mpi_es.load_run(tmp_path / "run")["history"]["best"]) == 3


@pytest.mark.parametrize("end", [{"max_iter": 3}, {"max_evaluations": 20}, {"tolfun": 1.0}, {"goal": 1.0}])
def test_a_finished_run_says_which_limit_to_change(capsys, end):
    for _ in range(2):
        result = evolve(run_dir="run", console="lines", **{"max_iter": 1000} | end)
    assert f"it, give another {next(iter(end))}" in " ".join(capsys.readouterr().out.split()), result.reason


def test_a_function_without_an_optimum_ends_with_a_result():
    result = evolve(lambda x: float(x[0]), run_dir=None, population_size=8, max_iter=10**5)
    assert result.reason == "diverged: sigma is above 1e+150"
    assert abs(result.value) > 1e149


def test_warnings_of_the_function_appear_once(tmp_path):
    script = "import warnings, mpi_es\n"
    script += "def f(x):\n    warnings.warn('unlikely')\n    return float(x @ x)\n"
    script += "mpi_es.minimise(f, [1.0, 2.0], max_iter=5, run_dir=None, console='silent')\n"
    assert call(sys.executable, "-c", script).stderr.count("unlikely") == 1


def test_a_function_that_was_changed_does_not_continue_a_run(capsys):
    centre = 1.0

    def cost(x, **seed):
        return float(((x - centre) ** 2).sum())

    def random_cost(x, seed):
        return cost(x)

    for function in (cost, random_cost):
        evolve(function, max_iter=3, run_dir=function.__name__)
        evolve(function, max_iter=3, run_dir=function.__name__, console="lines")  # the same, no call but one
        assert "the run had already finished; to continue it, give another max_iter" in " ".join(
            capsys.readouterr().out.split()
        )
    centre = 3.0
    for function in (cost, random_cost):
        with pytest.raises(UserError, match=r"the function has changed: at the best x it is now .*, but was"):
            evolve(function, max_iter=5, run_dir=function.__name__)


def test_without_a_directory_no_files_are_written(tmp_path):
    before = sorted(tmp_path.rglob("*"))
    result = mpi_es.evolve(sphere, [0.0] * 3, 0.5, minimise=True, run_dir=None, max_iter=9, console="silent")
    assert (result.run_dir, sorted(tmp_path.rglob("*"))) == (None, before)
    assert result.x.tobytes() == mpi_es.evolve(sphere, [0.0] * 3, 0.5, minimise=True, max_iter=9).x.tobytes()


def test_a_callback_sees_each_generation_and_may_end_the_run():
    seen = []

    def watch(generation):
        seen.append(generation)
        return generation.number == 4

    result = evolve(callback=watch)
    assert (result.reason, [one.number for one in seen]) == ("stopped by callback", [1, 2, 3, 4])
    assert [one.values.min() for one in seen] == result.history["best"].tolist()
    assert seen[-1].value == sphere(seen[-1].x) == min(one.value for one in seen)
    assert seen[-1].centre.tobytes() == result.centre.tobytes()


@pytest.mark.parametrize("error", [KeyError("plots"), SystemExit("enough")], ids=repr)
def test_a_callback_that_raises_or_exits_ends_the_run_after_it_is_saved(error):
    def watch(generation):
        if generation.number == 3:
            raise error

    words = f"callback failed: {type(error).__name__}: {error}"
    with pytest.raises(RolloutError, match=rf"{words}\n(?s:.*)in watch"):
        evolve(callback=watch, run_dir="mine")
    assert mpi_es.load_run("mine")["progress"]["generation"] == 3


def test_what_is_no_callback_is_refused_before_the_run(tmp_path):
    with pytest.raises(UserError, match="callback: expected a function, or None, got 'print'"):
        evolve(callback="print", run_dir="mine")
    assert not (tmp_path / "mine").exists()


def test_sigma_may_differ_from_parameter_to_parameter():
    rows = []
    evolve(lambda x: rows.append(x) or sphere(x), sigma=[1.0, 0.1, 0.01], max_iter=1, population_size=400)
    deviations = np.array(rows[:400]).std(axis=0)
    np.testing.assert_allclose(deviations, [1.0, 0.1, 0.01], rtol=0.1)
    result = evolve(lambda x: sphere(x / [100, 1, 0.01]), sigma=[50, 0.5, 0.005], max_iter=200)
    np.testing.assert_allclose(result.x, [100, 1, 0.01], rtol=1e-4)


def test_another_sigma_does_not_continue_a_run():
    evolve(sigma=[1.0, 2.0, 3.0], run_dir="mine")
    with pytest.raises(UserError, match="sigma"):
        evolve(sigma=[3.0, 2.0, 1.0], run_dir="mine")
    assert evolve(sigma=[1.0, 2.0, 3.0], run_dir="mine").reason == "last generation done"


@pytest.mark.parametrize(("name", "ours"), evolve_function._OTHER_NAMES.items())
def test_names_of_other_libraries_are_answered_with_ours(name, ours):
    with pytest.raises(UserError, match=f"evolve: expected {ours}, got '{name}'"):
        evolve(**{name: 1})


def test_a_mistake_shows_none_of_our_frames():
    with pytest.raises(UserError) as caught:
        evolve(poplation=8)
    assert [entry.name for entry in caught.traceback][-2:] == ["evolve", "evolve"]


def test_a_result_is_short_and_has_its_history_as_a_table():
    result = mpi_es.minimise(sphere, np.zeros(100), run_dir=None, **QUICK)
    assert len(repr(result)) < 200
    table = result.to_pandas()
    assert table.index.tolist() == [*range(1, 31)]
    assert table["best"].tolist() == result.history["best"].tolist()


# Calls that fail


def undefined(x):
    """Return no number where the first parameter is above 0.3, in one way or another."""
    if x[0] > 0.3:
        if x[1] > 0:
            return math.nan
        raise ZeroDivisionError("the solver diverged")
    return sphere(x)


def test_the_x_of_a_call_that_failed_is_told_and_kept():
    edge = 0.3

    def cost(x):
        return math.nan if x[0] > edge else sphere(x)

    with pytest.raises(RolloutError, match=r"expected a finite number, got nan\nx = \[0\.") as caught:
        evolve(cost, run_dir="mine")
    failure = mpi_es.load_run("mine")["failure"]
    assert failure["text"] == str(caught.value)
    assert str(failure["x"].tolist()) in failure["text"]
    assert failure["x"][0] > 0.3
    edge = math.inf  # the function is mended
    assert evolve(cost, run_dir="mine").value < 0.1
    assert "failure" not in mpi_es.load_run("mine")


def test_a_failed_call_is_saved_whatever_its_error_says():
    def fails(x):
        raise ValueError("a\0b\udc80c")  # such as a program's output, decoded by surrogateescape

    with pytest.raises(RolloutError, match="candidate 0: ValueError"):
        evolve(fails, run_dir="mine")
    assert "ValueError: a?b?c\n" in mpi_es.load_run("mine")["failure"]["text"]


def test_candidates_whose_calls_fail_are_ranked_last():
    result = evolve(undefined, on_failure="worst", max_iter=60)
    assert 0.49 < result.value < 0.51  # at the edge of what has a value
    assert result.history["failures"].any()
    assert np.isfinite(result.history["mean"]).all()
    assert (result.history["popsize"] == 8).all()


def test_a_generation_of_which_all_calls_failed_ends_the_run():
    words = "^generation 1: the calls of all candidates failed; candidate 0: ZeroDivisionError: "
    with pytest.raises(RolloutError, match=words):
        evolve(lambda x: 1 / 0, on_failure="worst")


def test_the_x_of_a_call_that_failed_reaches_the_script():
    with pytest.raises(RolloutError) as caught:
        evolve(lambda x: 1 / 0)
    assert np.isfinite(caught.value.x).all()


def test_the_cause_that_is_told_is_of_the_generation_that_failed():
    number = count()

    def worse_and_worse(x):
        n = next(number)
        if n == 0:
            raise ValueError("early")
        return 1.0 if n < 8 else {}["late"]

    with pytest.raises(RolloutError, match=r"all candidates failed; .*: KeyError: 'late'"):
        evolve(worse_and_worse, population_size=8, on_failure="worst")


def test_calls_of_a_random_function_may_fail():
    def sometimes(x, seed):
        return math.nan if seed % 10 == 0 else noisy(x, seed)

    result = evolve(sometimes, on_failure="worst", num_rollouts=2, num_eval_rollouts=9, max_iter=40)
    assert result.value < 0.1
    assert result.history["failures"].sum() > 20


def test_held_out_calls_that_fail_count_against_their_centre():
    calls = count()

    def cliff(x, seed):  # beyond it nine of ten calls fail, and the others have the best value
        next(calls)
        if x[0] > 0.5 and np.random.default_rng(seed).random() < 0.9:
            return math.nan
        return 0.52 if x[0] > 0.5 else 0.5 - (x[0] - 0.2) ** 2

    options = {"strategy": "openai_es", "learning_rate": 0.02, "population_size": 24, "num_rollouts": 4}
    options |= {"on_failure": "worst", "max_iter": 30, "eval_every": 2, "num_eval_rollouts": 64}
    result = mpi_es.evolve(cliff, [0.6, 0.0], 0.2, **options, goal=0.51, run_dir=None, console="silent")
    assert result.x[0] < 0.5
    assert (result.evaluations, result.reason) == (next(calls), "last generation done")


def test_calls_that_fail_by_chance_do_not_make_an_early_centre_the_best():
    def sometimes(x, seed):
        fails = np.random.default_rng([seed, int(1e9 * abs(x[0]))]).random() < 0.2
        return math.nan if fails else noisy(x, seed)

    options = {"on_failure": "worst", "eval_every": 1, "num_eval_rollouts": 32, "max_iter": 60}
    for seed in range(4):
        assert evolve(sometimes, **options, seed=seed).value < 0.1


def test_held_out_evaluations_of_which_all_calls_failed_count_too():
    calls = count()

    def held_out_fails(x, seed):
        next(calls)
        return math.nan if seed >= FIRST_HELD_OUT_SEED else noisy(x, seed)

    options = {"on_failure": "worst", "max_evaluations": 500, "eval_every": 1, "num_eval_rollouts": 100}
    result = evolve(held_out_fails, **options, run_dir="run")
    assert result.evaluations == next(calls) < 700
    assert math.isnan(result.value_of_centre)
    assert not mpi_es.load_run("run")["evaluations"]["returns"].size
    assert status.main(["run"]) == 0
    run_here(report, "run")


def test_held_out_calls_of_a_random_function_count_as_evaluations():
    calls = count()

    def counted(x, seed):
        next(calls)
        return noisy(x, seed)

    options = {"max_evaluations": 1000, "max_iter": 10**6, "eval_every": 10, "num_eval_rollouts": 100}
    result = evolve(counted, **options)
    assert result.evaluations == next(calls) < 1300
    assert result.reason == "limit of 1,000 evaluations reached"


def test_an_exact_function_is_called_once_for_a_candidate_whatever_is_asked_for():
    words = ["--function", f"{__name__}:sphere", "--x0", "1", "--dim", "3", "--num-rollouts", "3"]
    words += ["--population-size", "8", "--max-iter", "2", "--run-dir", "mine", "--console", "silent"]
    run_here(train, *words)
    assert mpi_es.load_run("mine")["history"]["episodes"].tolist() == [8, 8]


def test_a_call_that_takes_too_long_fails():
    def slow(x):
        time.sleep(60 if x[0] > 0.3 else 0)
        return sphere(x)

    with pytest.raises(RolloutError, match=r"TimeoutError: the call took longer than 0\.05 s"):
        evolve(slow, call_timeout=0.05)
    result = evolve(slow, call_timeout=0.05, on_failure="worst", max_iter=2)
    assert result.history["failures"].any()


@pytest.mark.parametrize("ranks", [2, 3, 7])
def test_calls_that_fail_do_not_change_what_ranks_share(launch, ranks, tmp_path):
    alone = launch(1, *script(run_dir="alone", on_failure="worst", fails=0.3))
    slow = script(run_dir="run", on_failure="worst", fails=0.3, pause=0.02)
    interrupt(tmp_path / "run", signal.SIGKILL, (ranks, *slow))
    assert lines_of(launch(2, *slow).stdout) == dict.fromkeys(range(2), lines_of(alone.stdout)[0])
    assert_same(exact_content(Path("run")), exact_content(Path("alone")))
    assert mpi_es.load_run("run")["history"]["failures"].any()


# Convergence


@pytest.mark.parametrize(
    ("strategy", "options"),
    [("cma_es", {}), ("snes", {}), ("cr_fm_nes", {}), ("pepg", {"population_size": 40})],
)
def test_a_search_that_has_converged_ends(strategy, options):
    result = evolve(strategy=strategy, max_iter=10**5, **options)
    assert result.reason == "converged: values vary by less than 1e-11"
    assert result.value < 1e-9
    assert result.evaluations < 40_000


def test_a_search_ends_when_its_steps_have_vanished():
    result = evolve(tolx=1e-3, tolfun=0, max_iter=10**5)
    assert result.reason == "converged: no parameter varies by 0.001 among the candidates"
    deviation = result.history["deviation"]
    assert deviation[-1] < 1e-3 <= deviation[:-1].min()


def test_cma_es_converges_where_pycma_does():
    import cma

    options = {"popsize": 8, "seed": 1, "verbose": -9}
    theirs = cma.fmin2(sphere, [0.0] * 10, 0.5, options)[1].result.evaluations
    assert theirs / 1.25 < evolve(x0=[0.0] * 10, max_iter=10**5).evaluations < 1.25 * theirs


def test_restarts_go_on_where_a_start_has_converged():
    assert evolve(restarts="ipop", max_iter=150).reason == "last generation done"


def test_a_number_of_evaluations_ends_the_run():
    result = evolve(max_evaluations=100)
    assert (result.reason, len(result.history["best"])) == ("limit of 100 evaluations reached", 13)


@pytest.mark.parametrize(("function", "most"), [(sphere, 5 * 8 + 1), (noisy, 5 * 8 + 3 + 2)])
def test_calls_at_an_earlier_end_do_not_count_towards_a_number_of_evaluations(function, most):
    options = {"max_evaluations": most}
    if function is noisy:
        options |= {"eval_every": 4, "num_eval_rollouts": 3}
    evolve(function, max_iter=5, run_dir="mine", **options)
    extended, whole = evolve(function, run_dir="mine", **options), evolve(function, **options)
    assert extended.history["mean"].tobytes() == whole.history["mean"].tobytes()
    assert extended.reason == whole.reason == f"limit of {most} evaluations reached"
    assert len(whole.history["mean"]) == 6


def test_the_callers_signal_handlers_are_back_afterwards():
    def own(number, frame):
        """Do nothing."""

    former = signal.signal(signal.SIGTERM, own)
    try:
        evolve(max_iter=2)
        assert signal.getsignal(signal.SIGTERM) is own
    finally:
        signal.signal(signal.SIGTERM, former)


def test_it_runs_in_a_thread_which_can_catch_no_signals():
    results = []
    thread = threading.Thread(target=lambda: results.append(evolve(max_iter=3)))
    thread.start()
    thread.join(LIMIT)
    assert len(results[0].history["best"]) == 3


def test_a_call_from_a_second_thread_is_named_as_such():
    raised = []

    def calls_elsewhere(x):
        def call():
            with pytest.raises(UserError, match="one call at a time, got one from a second thread"):
                evolve(max_iter=1)
            raised.append(True)

        thread = threading.Thread(target=call)
        thread.start()
        thread.join(LIMIT)
        return sphere(x)

    evolve(calls_elsewhere, max_iter=1)
    assert all(raised)
    assert len(raised) > 1


def test_a_signal_saves_the_run_and_ends_the_script_with_code_0(capsys):
    calls = []

    def interrupted(x):
        calls.append(x)
        if len(calls) == 50:
            os.kill(os.getpid(), signal.SIGTERM)
        return sphere(x)

    with pytest.raises(mpi_es.RunStopped) as stopped:
        evolve(interrupted, run_dir="mine", console="lines")
    last, how = capsys.readouterr().out.splitlines()[-2:]
    assert last == "generation 6: stopped by SIGTERM; saved in mine"
    assert how == "continue with run_dir='mine'"
    assert isinstance(stopped.value, SystemExit)
    assert stopped.value.code == 0
    content = mpi_es.load_run("mine")
    assert content["progress"]["generation"] == 6  # of 8 calls each
    assert content["life"]["reason"] == "stopped by SIGTERM"
    assert evolve(interrupted, run_dir="mine").history["mean"].tobytes() == evolve().history["mean"].tobytes()


# On many ranks


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """What the script prints alone, and its run."""
    place = tmp_path_factory.mktemp("whole")
    (place / "sphere.py").write_text(SCRIPT)
    process = start(0, *script(run_dir="run"), cwd=place)
    out, err = process.communicate(timeout=LIMIT)
    assert err == ""
    return lines_of(out)[0], place / "run"


def test_all_ranks_return_what_one_does(launch, whole):
    done = launch(3, *script(run_dir="run", times=2))
    assert done.stderr == ""
    assert lines_of(done.stdout) == dict.fromkeys(range(3), whole[0])
    assert_same(exact_content(Path("run")), exact_content(whole[1]))


OWN_BEGINNING = """
import mpi_es
x0, bounds = [0.5] * (3 + mpi_es.rank()), (mpi_es.rank(), 1)
quiet = {"console": "silent", "tensorboard": False}
small = {"population_size": 6, "max_iter": 3}
result = mpi_es.evolve(lambda x: -abs(x).sum(), x0, bounds=bounds, dispatch="static", **small, **quiet)
assert result.x.shape == (3,)
"""


def test_the_x0_and_bounds_of_rank_0_hold(launch):
    done = launch(3, "-c", OWN_BEGINNING)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_run_that_is_killed_goes_on_on_other_ranks(launch, whole, tmp_path):
    slow = script(run_dir="run", pause=0.02)
    interrupt(tmp_path / "run", signal.SIGKILL, (4, *slow))
    assert lines_of(launch(2, *slow).stdout) == dict.fromkeys(range(2), whole[0])
    assert_same(exact_content(Path("run")), exact_content(whole[1]))


def test_a_run_that_is_stopped_ends_all_ranks_with_code_0(launch, whole, tmp_path):
    slow = script(run_dir="run", pause=0.02, console="lines")
    interrupt(tmp_path / "run", signal.SIGTERM, (3, *slow))
    done = launch(1, *slow)
    assert done.returncode == 0
    assert lines_of(done.stdout)[0] == whole[0]


def test_ranks_that_are_lost_do_not_change_it(whole, tmp_path):
    run = tmp_path / "run"
    process = survivors(4, tmp_path / "sphere.py", script(run_dir=str(run), pause=0.05)[1])
    strike(run, 2, 2)
    strike(run, 0, 2)
    out, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, err
    assert "1 of 4 ranks lost; the others continue" in err
    assert "ranks lost; 2 continue from the last checkpoint" in err
    assert [*lines_of(out).values()] == [whole[0]] * 2
    assert_same(exact_content(run), exact_content(whole[1]))


ENDING = """
import atexit, os, signal, sys
from pathlib import Path
import mpi_es
place, strikes = Path(sys.argv[1]), sys.argv[2] == "strikes"
number = os.environ["OMPI_COMM_WORLD_RANK"]
atexit.register((place / f"handler{number}").touch)
def f(x):
    if strikes and number == "1":
        os.kill(os.getpid(), signal.SIGKILL)
    return -float((x**2).sum())
file = open(place / f"file{number}", "w")
mpi_es.evolve(f, [1.0] * 4, max_iter=5, run_dir=place / "run", console="silent", tensorboard=False)
file.write("written")
sys.exit(int(sys.argv[3]))
"""


@pytest.mark.parametrize(("strikes", "code"), [("strikes", 3), ("", 0), ("strikes", 0)])
def test_a_script_ends_with_its_code_its_exit_handlers_and_files_where_ranks_outlive_one_another(
    tmp_path, strikes, code
):
    process = survivors(3, "-c", ENDING, tmp_path, strikes, code)
    process.communicate(timeout=LIMIT)
    assert process.returncode == code
    if code == 0:  # with another Open MPI ends all ranks when the first has ended
        left = "02" if strikes else "012"
        assert sorted(path.name for path in tmp_path.glob("handler*")) == [f"handler{rank}" for rank in left]
        assert [(tmp_path / f"file{rank}").read_text() for rank in left] == ["written"] * len(left)


def test_an_error_on_one_rank_is_raised_on_all_and_told_once(launch):
    call = "mpi_es.evolve(lambda x: 1 / 0, [0.0], console='silent', tensorboard=False)"
    done = launch(3, "-c", f"import mpi_es\n{call}")
    assert done.returncode == 2
    assert len(re.findall(r"candidate \d+: ZeroDivisionError: division by zero\n", done.stderr)) == 1


# From the command line

MODULE = """
def f(x):
    return -float((x ** 2).sum())

def g(x, seed):
    return f(x)

def undefined(x):
    return 1 / 0
"""
COMMAND = ("--function", "mine:f", "--console", "lines", "--no-tensorboard")


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A module of a user's."""
    (tmp_path / "mine.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{ROOT}")
    yield
    sys.modules.pop("mine", None)


def test_a_function_is_evolved_from_the_command_line_and_resumed(launch, mine, capsys):
    x0 = ("--x0", 3, "--dim", 4, "--init-sigma", 0.5, "--max-iter", 20, "--run-dir", "run")
    done = launch(2, "-m", "mpi_es.train", *COMMAND, *x0)
    assert done.stderr == ""
    assert "maximising mine:f, 4 parameters" in done.stdout
    assert "calls/s" in done.stdout
    assert "length" not in done.stdout
    run_here(train, "--resume", "run", "--max-iter", 25, "--console", "lines")
    assert "generation 25: last generation done; best value" in capsys.readouterr().out
    assert generations(Path("run")) == 25


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--x0 1 2 --dim 3", "--x0: expected one number, or 3 as --dim says"),
        ("", "--x0: expected the start of the search, with --dim one number for all, got nothing; "),
        ("--x0 1 --bounds 2", "--bounds: expected two numbers"),
        ("--x0 1 --bounds 2 3", "--x0: expected numbers within --bounds"),
        ("--x0 1 --function mine:h", "--function mine: expected one of f, g, undefined, got 'h'"),
        ("--x0 1 --function yours:f", "--function: expected a module that can be imported"),
    ],
)
def test_a_wrong_option_is_told_in_one_line(mine, options, message):
    with pytest.raises(UserError) as raised:
        run_here(train, *COMMAND, *options.split())
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("options", "warning"),
    [
        ("--hidden 3", "no effect with --function mine:f: --hidden"),
        ("--obs-norm", "no effect with --function mine:f: --obs-norm"),
        ("--num-rollouts 3 --eval-every 1", "{without}: --num-rollouts, --eval-every"),
        ("--num-rollouts 3 --eval-every 1 --function mine:g", ""),
    ],
)
def test_options_of_policies_and_episodes_have_no_effect(mine, capfd, options, warning):
    run_here(train, *COMMAND, "--x0", 1, "--max-iter", 1, "--population-size", 4, *options.split())
    warning = warning.format(without="no effect with a function that has no argument `seed`")
    assert capfd.readouterr().err == f"warning: {warning}\n" * bool(warning)


@pytest.mark.parametrize("option", ["--dedicated-root=yes", "--population-size=4"])
def test_why_all_calls_failed_is_told_if_rank_0_made_none(mine, launch, option):
    failing = ("--function", "mine:undefined", "--x0", 1, "--on-failure", "worst")
    done = launch(5, "-m", "mpi_es.train", *failing, option)
    assert "the calls of all candidates failed; candidate " in done.stderr


def test_what_needs_a_policy_refuses_the_run_of_a_function():
    run = evolve(max_iter=1).run_dir
    for program, *rest in ([evaluate], [export, "--out", "agent.npz"]):
        with pytest.raises(UserError, match=f"optimised a function, {__name__}:sphere; a policy run is"):
            run_here(program, run, *rest)
    with pytest.raises(UserError, match="to continue a run that a script started, run that script again"):
        run_here(train, "--resume", run)


# What is shown of it


def test_status_and_report_speak_of_calls_and_values(capsys):
    result = evolve(run_dir="run")
    assert status.main(["run"]) == 0
    shown = capsys.readouterr().out
    assert f"{result.value:.4g} at" in shown
    assert "calls/s" in shown
    run_here(report, "run")
    text = Path("run/report.html").read_text()
    assert "Best value" in text
    assert "Calls" in text
    assert "episode" not in text
    assert "mpi_es.evaluate" not in text


def test_a_job_finds_the_runs_that_its_script_does_not_name(monkeypatch, tmp_path):
    job = tmp_path / "job"
    job.mkdir()
    monkeypatch.setenv(directories.RUNS, str(job))
    for _ in range(2):  # as after a requeue
        directories.CALLS.clear()
        first, second = evolve(max_iter=2), evolve(max_iter=2)
        named = evolve(max_iter=2, run_dir="named")
    assert first.run_dir != second.run_dir
    assert {path.parent for path in (first.run_dir, second.run_dir)} == {job}
    listed = (job / directories.LIST).read_text().splitlines()
    assert {*listed} == {str(result.run_dir.absolute()) for result in (first, second, named)}


def test_a_run_that_a_callback_ended_stays_as_it_is(tmp_path):
    options = {"run_dir": tmp_path / "run", "callback": lambda one: one.number >= 2}
    first, second = evolve(max_iter=9, **options), evolve(max_iter=9, **options)
    assert (len(first.history["best"]), len(second.history["best"])) == (2, 2)
    assert second.reason == "stopped by callback"


def test_a_call_timeout_is_refused_where_no_signal_can_end_a_call():
    with (
        ThreadPoolExecutor(1) as pool,
        pytest.raises(UserError, match=r"^call_timeout: expected 0 in a thread"),
    ):
        pool.submit(evolve, max_iter=1, call_timeout=5.0).result()
