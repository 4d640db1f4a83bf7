import numpy as np
import pytest

from mpi_es.reports import figures
from mpi_es.reports.curves import grouped
from mpi_es.run_file.records import HeldOut
from tests.reports.test_curves import CONFIG, run


def drawn(panel):
    """Return x and y of the lines of a panel that are in the legend, by their names."""
    lines = {line.get_label(): line for line in panel.lines}
    return {
        name: (line.get_xdata().tolist(), line.get_ydata().tolist())
        for name, line in lines.items()
        if not name.startswith("_")
    }


def whole(**options):
    """Return a run with all columns that are drawn."""
    one = run(**options)
    for name in ("min", "best", "fitness_of_centre", "sigma", "mean_length"):
        one.history[name] = one.history["mean"] + 1
    return one


def test_fitness_is_drawn_against_three_costs():
    figure = figures.learning(whole(seconds=2.0))
    panels = [drawn(panel)["population, mean"] for panel in figure.axes]
    assert panels == [([1, 2, 3], [1, 2, 4]), ([10, 20, 30], [1, 2, 4]), ([2, 4, 6], [1, 2, 4])]
    labels = [panel.get_xlabel() for panel in figure.axes]
    assert labels == ["generations", "training episodes", "wall time / s"]


def test_held_out_returns_have_their_interval():
    returns = np.array([1.0, 2.0, 3.0, 4.0])
    panel = figures.learning(whole(held=[HeldOut(2, returns)])).axes[1]
    (bar,) = panel.containers[0].lines[2][0].get_segments()
    assert bar.tolist() == [
        pytest.approx([20, 2.5 - 1.2652], abs=1e-4),
        pytest.approx([20, 3.7652], abs=1e-4),
    ]


@pytest.mark.parametrize(
    ("seconds", "label", "number"),
    [
        (50.0, "wall time / s", "9,000"),
        (70.0, "wall time / min", "150"),
        (3700.0, "wall time / h", "2.5"),
    ],
)
def test_wall_time_has_the_unit_that_suits_it(seconds, label, number):
    panel = figures.learning(whole(seconds=seconds)).axes[2]
    assert panel.get_xlabel() == label
    assert panel.xaxis.get_major_formatter()(9000, 0) == number


def test_seeds_are_drawn_as_their_median_and_other_configs_beside_them():
    runs = [whole(name="a", mean=(1, 2)), whole(name="b", mean=(3, 8)), whole(name="c", mean=(5, 0, 0))]
    figure = figures.comparison(grouped(runs))
    assert drawn(figure.axes[3]) == {"a (3 runs)": ([1, 2], [3, 2])}
    assert len(figure.axes[3].lines) == 1 + 3
    assert drawn(figure.axes[0]) == {"a (3 runs)": ([], [])}  # none was evaluated


def test_sigma_and_lengths_are_drawn_against_generations():
    left, right = figures.search(grouped([whole(config=CONFIG)])).axes
    assert drawn(left) == drawn(right) == {"a": ([1, 2, 3], [2, 3, 5])}
    assert left.get_yscale() == "log"
