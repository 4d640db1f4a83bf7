from dataclasses import dataclass, replace

import numpy as np
import pytest

from mpi_es.run_file import checkpoint
from mpi_es.run_file.history import History, Table
from mpi_es.run_file.records import HeldOut, Timing, summarize
from tests.run_file import bases


@dataclass(frozen=True)
class Pair:
    number: int
    value: float


def test_columns_grow_and_keep_the_types_of_their_fields():
    columns = Table(Pair)
    for i in range(300):
        columns.append(Pair(i, i / 2))
    content = columns.content()
    assert (content["number"].dtype, content["value"].dtype) == (np.int64, np.float64)
    np.testing.assert_array_equal(content["number"], np.arange(300))
    np.testing.assert_array_equal(content["value"], np.arange(300) / 2)


@pytest.mark.parametrize("length", [0, 1, 63, 64, 65, 200])
def test_columns_go_on_where_they_were_stored(length):
    stored = {"number": np.arange(length), "value": np.arange(length) / 2}
    columns = Table(Pair, stored)
    columns.append(Pair(length, length / 2))
    np.testing.assert_array_equal(columns.content()["number"], np.arange(length + 1))
    np.testing.assert_array_equal(columns.content()["value"], np.arange(length + 1) / 2)


def history(*evaluations):
    made = History()
    for generation, returns in enumerate(evaluations, 1):
        row = summarize(generation, np.arange(4.0), np.ones((4, 1), int), popsize=4, sigma=0.1)
        made.rows.append(row)
        made.timings.append(Timing(*range(8)))
        made.evaluations.append(HeldOut(generation, np.array(returns, float)))
    return made


def test_evaluations_of_different_lengths_survive_the_file(tmp_path):
    before = history([1, 2, 3], [4], [5, 6, 7, 8, 9])
    before.evaluations[1] = replace(before.evaluations[1], failures=5)
    checkpoint.save(tmp_path, before.content())
    after = History(bases.read(tmp_path))
    assert [held.generation for held in after.evaluations] == [1, 2, 3]
    assert [held.returns.tolist() for held in after.evaluations] == [[1, 2, 3], [4], [5, 6, 7, 8, 9]]
    assert [held.failures for held in after.evaluations] == [0, 5, 0]
    np.testing.assert_array_equal(after.rows.content()["generation"], [1, 2, 3])


def test_a_history_of_nothing_survives_the_file(tmp_path):
    checkpoint.save(tmp_path, History().content())
    after = History(bases.read(tmp_path))
    assert (after.rows.length, after.timings.length, after.evaluations) == (0, 0, [])


@pytest.mark.parametrize(
    ("means", "streak"), [([], 0), ([9], 0), ([10], 1), ([10, 9], 0), ([10, 9, 11, 10], 2), ([10, 12, 99], 3)]
)
def test_a_streak_is_of_the_last_evaluations_in_succession(means, streak):
    made = history(*([mean - 1, mean + 1] for mean in means))
    assert made.streak(10, 1) == streak


def test_a_streak_ends_where_an_evaluation_lacks():
    made = history([12, 14], [10, 20], [10, 20])
    made.evaluations[1] = replace(made.evaluations[1], generation=1)
    made.evaluations[0] = replace(made.evaluations[0], generation=0)
    assert made.streak(0, 1) == 1


def test_a_failed_call_counts_as_the_lowest_return_of_evaluation_and_population():
    made = history([12, 14], [10, 20], [10, 20])  # the lowest fitness of the populations is 0
    made.evaluations[1] = replace(made.evaluations[1], failures=2)
    assert [made.score(held_out) for held_out in made.evaluations] == [13, 7.5, 15]
    assert (made.streak(7, 1), made.streak(8, 1)) == (3, 1)
    made.evaluations[1] = HeldOut(2, np.zeros(0), failures=3)
    assert made.score(made.evaluations[1]) == -np.inf
    assert made.score(HeldOut(3, np.array([-6.0, 4]), failures=2)) == -3.5


def test_the_evaluation_at_the_end_of_a_shorter_run_does_not_count():
    made = history([10], [9], [10])  # of generations 1, 2 and 3
    assert (made.streak(10, 2), made.streak(10, 3), made.streak(10, 0)) == (0, 1, 0)
