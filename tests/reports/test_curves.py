from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mpi_es.config.parts import changed, flat
from mpi_es.config.run import configured
from mpi_es.errors import UserError
from mpi_es.reports import curves
from mpi_es.reports.curves import Curves, Group, grouped, spread
from mpi_es.run_file import checkpoint
from mpi_es.run_file.history import History
from mpi_es.run_file.records import HeldOut
from tests.run_file import bases

CONFIG = configured(population_size=8)


def run(name="a", config=CONFIG, mean=(1.0, 2.0, 4.0), seconds=2.0, held=()):
    """Return a run of as many generations as means, of 10 steps and some seconds each."""
    n = len(mean)
    history = {"generation": np.arange(1, n + 1), "steps": np.full(n, 10), "mean": np.array(mean)}
    content = {"history": history, "timing": {"total": np.full(n, seconds)}}
    past = History()
    past.evaluations += held
    return Curves(Path(name), config, content | {"config": flat(config)}, "", past)


def labels(*runs):
    return [group.label for group in curves.grouped(runs)]


def test_a_line_is_drawn_against_what_was_spent():
    one = run()
    assert one.line("generations", "mean")[0].tolist() == [1, 2, 3]
    assert one.line("steps", "mean")[0].tolist() == [10, 20, 30]
    assert one.line("seconds", "mean")[0].tolist() == [2, 4, 6]
    assert one.line("seconds", "mean")[1].tolist() == [1, 2, 4]


def test_held_out_means_lie_where_they_were_measured():
    held = [HeldOut(0, np.array([1.0, 3.0])), HeldOut(3, np.array([5.0, 7.0]))]
    x, y = run(held=held).line("steps", "held_out")
    assert (x.tolist(), y.tolist()) == ([0, 30], [2, 6])


def test_what_is_unknown_is_left_out():
    x, y = run(mean=(1.0, np.nan, 4.0)).line("generations", "mean")
    assert (x.tolist(), y.tolist()) == ([1, 3], [1, 4])


def test_runs_that_differ_in_seed_and_machine_are_a_group():
    other = replace(CONFIG, seed=2, run_dir="b", envs_per_rank=2)
    groups = curves.grouped([run(), run("b", other), run("c", changed(CONFIG, strategy="pepg"))])
    assert [group.label for group in groups] == ["--strategy cma_es (2 runs)", "--strategy pepg"]
    assert [len(group.runs) for group in groups] == [2, 1]


def test_options_of_a_users_strategy_tell_runs_apart():
    slow, fast = run("a"), run("b")
    slow.content["config"]["alpha"], fast.content["config"]["alpha"] = 0.1, 3.0
    assert labels(slow, fast) == ["--alpha 0.1", "--alpha 3"]


def test_a_group_that_differs_in_much_is_named_after_its_directory():
    far = changed(CONFIG, env_options=("goal_velocity=0.25", "render_mode=rgb_array"), hidden=(4,))
    assert labels(run("x/near"), run("x/far", far)) == ["near", "far"]


def test_a_group_with_many_options_is_named_after_their_values():
    far = changed(CONFIG, num_rollouts=3, episode_cap=9, hidden=(4,))
    assert labels(run(), run("b", far)) == ["64 64, 1, 0", "4, 3, 9"]


def test_the_number_in_a_name_is_short():
    far = changed(CONFIG, init_sigma=1 / 3)
    assert labels(run(), run("b", far)) == ["--init-sigma 0.1", "--init-sigma 0.3333"]


def test_searches_that_begin_elsewhere_are_two_groups():
    runs = [run("x/one"), run("x/two")]
    for one, x0 in zip(runs, (1.0, 2.0), strict=True):
        one.content["problem"] = {"x0": np.full(3, x0)}
    assert labels(*runs) == ["one", "two"]


def test_the_best_so_far_never_gets_worse():
    one = run(mean=(3, 1, 2))
    one.history["best"] = np.array([-2.0, np.nan, -5.0])
    assert one.line("generations", "best_so_far")[1].tolist() == [-2, -2, -2]


def test_a_summary_ends_where_the_first_run_does():
    group = Group("", [run(mean=(1, 2, 4, 9)), run(mean=(3, 8)), run(mean=(5, 0, 0))])
    x, low, median, high = (values.tolist() for values in group.summary("generations", "mean"))
    assert (x, low, median, high) == ([1, 2], [1, 0], [3, 2], [5, 8])


def test_a_summary_lies_on_the_lines_between_the_points():
    group = Group("", [run(mean=(0, 4, 8), seconds=2), run(mean=(2, 2, 2), seconds=3)])
    x, low, median, high = (values.tolist() for values in group.summary("seconds", "mean"))
    assert x == [3, 4, 6]  # from the second's first point to the first's last
    assert (low, median, high) == ([2, 2, 2], [2, 3, 5], [2, 4, 8])


def test_a_group_without_the_quantity_has_an_empty_summary():
    assert [len(values) for values in Group("", [run()]).summary("seconds", "held_out")] == [0] * 4


def test_a_run_without_a_generation_is_reported(tmp_path):
    run = bases.make("full", tmp_path)
    checkpoint.save(run, bases.begun(checkpoint.load(run)[0]))
    with pytest.raises(UserError, match="no generation is done yet"):
        curves.load(run)


def test_the_time_is_divided_into_phases_of_which_idle_ranks_are_one():
    one = run(mean=(1.0, 2.0), seconds=10.0)
    one.content["timing"] |= {name: np.full(2, 1.0) for name in ("ask", "tell", "save")}
    one.content["timing"] |= {"evaluate": np.array([4.0, 6.0]), "idle": np.array([0.5, 0.25])}
    assert one.phases == {
        "ask": 2,
        "evaluate": 6.5,
        "evaluate, ranks idle": 3.5,
        "tell": 2,
        "save": 2,
        "held-out evaluations and the rest": 4,
    }


def test_a_band_has_a_gap_where_an_end_is_not_known():
    one = run()
    one.history["min"] = np.array([0.0, -np.inf, 1.0])
    one.history["best"] = np.array([3.0, 4.0, 5.0])
    steps, worst, best = one.band("steps")
    assert steps.tolist() == [10, 20, 30]
    np.testing.assert_array_equal([worst, best], [[0, np.nan, 1], [3, np.nan, 5]])


@pytest.mark.parametrize(("target", "reached"), [(5.0, 2), (9.0, None), (None, None)])
def test_the_target_is_reached_by_the_first_held_out_mean(target, reached):
    held = [HeldOut(generation, np.array([value])) for generation, value in ((1, 4.0), (2, 6.0), (3, 7.0))]
    config = replace(CONFIG, target_fitness=target, eval_every=1)
    assert run(config=config, held=held).first_at_target() == reached


@pytest.mark.parametrize(("times", "reached"), [(1, 1), (2, 4), (3, None)])
def test_the_target_is_reached_as_often_in_a_row_as_the_run_asks(times, reached):
    held = [
        HeldOut(generation, np.array([value])) for generation, value in enumerate((5.0, 1.0, 6.0, 7.0), 1)
    ]
    config = replace(CONFIG, target_fitness=5.0, target_consecutive=times, eval_every=1)
    assert run(config=config, held=held).first_at_target() == reached


def test_the_evaluation_at_the_end_does_not_reach_the_target():
    held = [HeldOut(generation, np.array([value])) for generation, value in ((2, 1.0), (4, 6.0), (5, 6.0))]
    config = replace(CONFIG, target_fitness=5.0, target_consecutive=2, eval_every=2)
    assert run(config=config, held=held).first_at_target() is None


@pytest.mark.parametrize(("target", "reached"), [(5.0, 2), (4.0, 2), (0.5, None)])
def test_a_candidate_reaches_the_target_of_a_function(target, reached):
    config = replace(CONFIG, env="", function="f:f", x0=(1.0,), minimise=True, target_fitness=target)
    one = run(config=config, held=[HeldOut(3, np.array([-3.0]))])
    one.history["best"] = -np.array([7.0, 4.0, 5.0])
    one.content["problem"] = {"exact": True}
    assert one.first_at_target() == reached


@pytest.mark.parametrize(("values", "text"), [([], "-"), ([2.0], "2"), ([1.0, 9.0, 3.0], "3 [1, 9]")])
def test_a_spread_is_the_median_and_the_range(values, text):
    assert spread(values, lambda value: f"{value:g}") == text


def test_groups_of_different_strategies_have_labels_of_their_own():
    options = ({"strategy": "openai_es", "learning_rate": rate} for rate in (0.01, 0.03))
    runs = [run(config=configured(**one)) for one in (*options, {"strategy": "cma_es"})]
    labels = [group.label for group in grouped(runs)]
    assert labels == ["openai_es, 0.01", "openai_es, 0.03", "cma_es"]
