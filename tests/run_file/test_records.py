import math

from mpi_es.run_file.records import scalars
from tests.telemetry.records import FITNESS, TIMING, held_out, row


def test_a_row_summarises_a_generation():
    known = row(7, fitness_of_centre=2.5, learning_rate=0.1, episode_cap=9)
    assert (known.best, known.mean, known.min, known.std) == (10, 4, 1, FITNESS.std())
    assert (known.elite, known.rank_of_centre) == (1, 2)
    assert (known.generation, known.episodes, known.steps, known.mean_length) == (7, 4, 20, 5)


def test_a_mean_above_all_has_rank_0():
    assert row(fitness_of_centre=10.0).rank_of_centre == 0


def test_a_mean_that_is_not_tracked_has_no_rank():
    assert math.isnan(row().rank_of_centre)


def test_scalars_leave_out_what_is_not_known():
    tags = dict(scalars(row()))
    assert tags["fitness/best"] == 10
    assert "learning_rate" not in tags
    assert "rank_of_centre" not in tags
    assert list(dict(scalars(held_out())).values()) == [5, 2**0.5, 4, 6]
    assert dict(scalars(TIMING))["speed/idle"] == 0.25
