import sys
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from mpi_es.config.parts import suited
from mpi_es.config.run import Config
from mpi_es.reports import figures
from mpi_es.reports.curves import grouped
from mpi_es.reports.drawing import picture
from mpi_es.run_file.records import HeldOut
from tests.reports.test_curves import CONFIG, run


def axes_of(panel):
    """Return the axes on which a panel was drawn."""
    axes = Figure().subplots()
    panel.draw(axes)
    return axes


def drawn(panel):
    """Return x and y of the lines of a panel that are in the key, by their names."""
    lines = {line.get_label(): line for line in axes_of(panel).lines}
    return {
        name: (np.asarray(line.get_xdata()).tolist(), np.asarray(line.get_ydata()).tolist())
        for name, line in lines.items()
        if not name.startswith("_")
    }


def whole(worst=-1.0, **options):
    """Return a run with all columns that are drawn."""
    one = run(**options)
    for name in ("best", "fitness_of_centre", "sigma", "mean_length", "std"):
        one.history[name] = one.history["mean"] + 1
    one.history["min"] = one.history["mean"] + worst
    one.content["timing"]["steps_per_second"] = one.history["mean"] + 1
    return one


def test_fitness_is_drawn_against_generations_steps_and_time():
    panels = figures.learning(whole(seconds=2.0))
    means = [drawn(panel)["population, mean"] for panel in panels]
    assert means == [([1, 2, 3], [1, 2, 4]), ([10, 20, 30], [1, 2, 4]), ([2, 4, 6], [1, 2, 4])]
    assert [panel.across for panel in panels] == ["generations", "environment steps", "wall time / s"]


def test_the_worst_candidate_does_not_own_the_axis():
    axes = axes_of(figures.learning(whole(worst=-5000.0))[0])
    low, high = axes.get_ylim()
    assert (0 < low < 1, 5 < high < 6) == (True, True)  # means from 1, bests up to 5
    assert "population, worst to best (down to -4,999, cut off)" in axes.get_legend_handles_labels()[1]


def of_function(**options):
    """Return a run that minimises a function."""
    config = suited(Config, {"function": "f:f", "x0": (1.0,), "minimise": True}, imports=False)
    one = whole(config=config, **options)
    one.content["problem"] = {"exact": True}
    return one


def test_penalties_do_not_own_the_axis_of_a_function():
    axes = axes_of(figures.learning(of_function(mean=(-4.0, -1e6, -3.0)))[0])
    assert axes.get_ylim()[1] < 10
    known = of_function(mean=(-4.0, -3.5, -3.0))
    assert axes_of(figures.learning(known)[0]).get_ylim()[1] > 4


@pytest.mark.parametrize("penalty", [1e300, sys.float_info.max])
def test_a_search_that_begins_with_penalties_too_large_to_draw_is_drawn(penalty):
    one = of_function(mean=(-penalty, -4.0, -3.0), held=[HeldOut(1, np.array([-penalty]))])
    panels = figures.learning(one)
    assert drawn(panels[0])["best so far"] == ([2, 3], [3, 2])
    assert picture(panels, 3)


def test_the_best_value_so_far_is_drawn():
    lines = drawn(figures.learning(of_function(mean=(-4.0, -6.0, -3.0)))[0])
    assert lines["best so far"] == ([1, 2, 3], [3, 3, 2])
    assert "best so far" not in drawn(figures.learning(whole())[0])


def test_a_range_that_is_seen_is_not_said_to_be_cut_off():
    axes = axes_of(figures.learning(whole(worst=0.0))[0])
    assert "population, worst to best" in axes.get_legend_handles_labels()[1]


def test_the_target_is_drawn_and_seen():
    config = replace(CONFIG, target_fitness=40.0)
    for panel in (
        figures.learning(whole(config=config))[0],
        figures.comparison(grouped([whole(config=config)]))["mean"][0],
    ):
        axes = axes_of(panel)
        assert "target, 40" in axes.get_legend_handles_labels()[1]
        assert axes.get_ylim()[1] > 40
    assert "target" not in "".join(axes_of(figures.learning(whole())[0]).get_legend_handles_labels()[1])


def test_held_out_returns_have_their_interval():
    returns = np.array([1.0, 2.0, 3.0, 4.0])
    axes = axes_of(figures.learning(whole(held=[HeldOut(2, returns)]))[1])
    (bar,) = axes.containers[0].lines[2][0].get_segments()
    assert bar.tolist() == [pytest.approx([20, 0.4458], abs=1e-4), pytest.approx([20, 4.5542], abs=1e-4)]


def test_a_function_that_falls_by_decades_has_a_logarithmic_axis():
    config = replace(CONFIG, function="m:f", minimise=True, x0=(1.0,))
    one = whole(config=config, mean=(-1e6, -10.0, -2.0))
    assert axes_of(figures.learning(one)[0]).get_yscale() == "log"
    assert [panel.title for panel in figures.search(grouped([one]))][-1] == "calls per second"


def test_seeds_are_drawn_as_their_median_and_other_configs_beside_them():
    runs = [whole(name="a", mean=(1, 2)), whole(name="b", mean=(3, 8)), whole(name="c", mean=(5, 0, 0))]
    compared = figures.comparison(grouped(runs))
    assert drawn(compared["mean"][0]) == {"a (3 runs)": ([1, 2], [3, 2])}
    assert len(axes_of(compared["mean"][0]).lines) == 1 + 3
    assert list(compared) == ["mean"]  # none was evaluated


def test_functions_of_x_alone_are_compared_by_their_best_values():
    config = replace(CONFIG, function="m:f", minimise=True, x0=(1.0,))
    runs = [whole(name=name, config=config, mean=(-4, -2, -3)) for name in ("a", "b")]
    for one in runs:
        one.content["problem"] = {"exact": True}
    compared = figures.comparison(grouped(runs))
    assert list(compared) == ["best_so_far", "mean"]
    assert drawn(compared["best_so_far"][0]) == {"a (2 runs)": ([1, 2, 3], [3, 1, 1])}


def test_a_single_evaluation_is_a_point():
    runs = [whole(name=name, held=[HeldOut(3, np.array([1.0]))]) for name in ("a", "b")]
    lines = axes_of(figures.comparison(grouped(runs))["held_out"][0]).lines
    assert [line.get_marker() for line in lines].count("o") == 2


def test_the_search_is_drawn_against_generations():
    panels = figures.search(grouped([whole(config=CONFIG)]))
    assert [drawn(panel) for panel in panels] == [{"a": ([1, 2, 3], [2, 3, 5])}] * 4
    assert axes_of(panels[0]).get_yscale() == "log"


def test_a_step_size_that_stays_is_a_line_in_the_middle():
    one = whole()
    one.history["sigma"] = np.full(3, 0.1)
    assert axes_of(figures.search(grouped([one]))[0]).get_ylim() == pytest.approx((0.05, 0.2))
