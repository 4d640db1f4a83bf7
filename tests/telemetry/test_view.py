import pytest

from mpi_es.config.run import configured
from mpi_es.telemetry.view import view_of
from tests.telemetry.records import held_out, numbers


@pytest.mark.parametrize("function", ["", "f:f"])
def test_each_column_shows_a_number_that_a_generation_has(function):
    config = configured(function=function)
    view, known = view_of(config), numbers(config=config, held=held_out(), fitness_of_centre=2.5)
    assert [name for _, name in view.columns.values() if name not in known] == []
    assert view.course in known


def test_the_rows_show_what_is_known():
    view = view_of(configured())
    assert view.scores(numbers())["better than mean"] == [("elite", "1 of 4")]
    assert view.scores(numbers(fitness_of_centre=2.5))["centre"][0] == ("", "2.5")
    rows = view.speeds(numbers(episode_cap=9, start=2, learning_rate=0.1))
    assert rows["sigma"] == [
        ("", "0.5"),
        ("learning rate", "0.1"),
        ("episode length", "5 of 9"),
        ("restarts", "2"),
    ]


def test_what_may_end_the_run_earlier_makes_the_time_left_an_upper_limit():
    assert not view_of(configured()).may_end_earlier
    for options in ({"target_fitness": 475.0}, {"max_evaluations": 9}, {"callback": "a:B"}):
        assert view_of(configured(**options)).may_end_earlier
