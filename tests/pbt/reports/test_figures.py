import numpy as np

from mpi_es.run_file.records import HeldOut
from mpi_es.run_file.scores import half_interval
from pbt.lineage import Generation, Lineage
from pbt.reports import figures
from tests.reports.test_figures import axes_of

# Member 2 copies member 0, then member 1 copies member 2: all descend from member 0 at the end.
SOURCES = ([0, 1, 0], [0, 2, 2], [0, 1, 2])
SCORES = ([5.0, 3.0, -900.0], [6.0, np.nan, 4.0], [7.0, 8.0, 5.0])


def past(scores=SCORES, sources=SOURCES, length=9.0):
    """Return a lineage of three members that takes two seconds a generation."""
    lineage = Lineage(["rate"])
    for place, (score, source) in enumerate(zip(scores, sources, strict=True)):
        values = np.array([[0.1], [0.2], [0.4]]) * (place + 1)
        row = Generation(place + 1, np.array(score), np.full(3, length), values, np.array(source))
        lineage.generations.append(row)
        lineage.seconds.append(2.0)
    lineage.evaluations.append((1, HeldOut(3, np.array([6.0, 8.0]))))
    return lineage


def drawn(axes):
    """Return the lines of the axes by their names."""
    lines = {line.get_label(): line for line in axes.lines}
    return {name: np.stack(line.get_data(), axis=1).tolist() for name, line in lines.items()}


def test_scores_are_drawn_against_generations_steps_and_time():
    panels = figures.scores(past(), steps=100)
    winners = [drawn(axes_of(panel))["the last winner and its ancestors"] for panel in panels]
    assert [[x for x, _ in line] for line in winners] == [[1, 2, 3], [100, 200, 300], [2, 4, 6]]
    assert [y for _, y in winners[0]] == [5, 4, 8]  # members 0, 2 and 1


def test_the_worst_member_does_not_own_the_axis():
    axes = axes_of(figures.scores(past(), 1)[0])
    assert axes.get_ylim()[0] > 0
    assert "each member (down to -900, cut off)" in axes.get_legend_handles_labels()[1]


def test_held_out_scores_are_drawn_with_their_intervals_where_they_were_measured():
    (held_out,) = axes_of(figures.scores(past(), steps=100)[1]).containers
    points, _, (bars,) = held_out.lines
    half = half_interval(np.array([6.0, 8.0]))
    assert np.stack(points.get_data()).tolist() == [[300], [7]]
    np.testing.assert_allclose(bars.get_segments(), [[[300, 7 - half], [300, 7 + half]]])


def test_a_complement_is_drawn_as_such():
    (panel,) = figures.hyperparameters(past(), {"rate": "complement"})
    axes = axes_of(panel)
    assert (panel.title, axes.get_yscale()) == ("1 - rate", "log")
    assert [y for _, y in drawn(axes)["the last winner and its ancestors"]] == [
        0.9,
        1 - 0.8,
        1 - 0.6000000000000001,
    ]


def test_founders_have_colours_if_members_descend_from_them():
    axes = axes_of(figures.tree(past()))
    lines = drawn(axes)
    assert [name for name in lines if "founder" in name] == [
        "founders without descendants at the end",
        "founder 0: 3 of 3 members descend from it",
    ]
    ended = np.array(lines["founders without descendants at the end"])
    assert ended[:2].tolist() == [[1, 1], [2, 1]]  # member 1, until it copied
    assert lines["diverged"] == [[2, 1]]


def test_founders_beyond_the_colours_are_one():
    n = 9
    scores, sources = np.arange(2 * n, dtype=float).reshape(2, n), np.tile(np.arange(n), (2, 1))
    lineage = Lineage([])
    for place in range(2):
        nothing = np.zeros((n, 0))
        lineage.generations.append(
            Generation(place + 1, scores[place], scores[place], nothing, sources[place])
        )
    names = [*drawn(axes_of(figures.tree(lineage)))]
    assert names[0] == "3 other founders"
    assert sum(name.endswith(": 1 of 9 members descend from it") for name in names) == 6


def test_episodes_of_one_step_have_no_length():
    assert figures.lengths(past(length=1.0)) == []
    assert len(figures.lengths(past())) == 1
