from mpi_es.config.run import configured
from mpi_es.run_file.history import History
from mpi_es.telemetry.numbers import of_past
from tests.telemetry.records import held_out, numbers, row

FUNCTION = configured(function="f:f", minimise=True)


def test_a_generation_has_its_fitness_its_times_and_the_steps_of_all():
    known = numbers(2, steps=140, held=held_out(2))
    assert (known["generation"], known["fitness/mean"], known["seconds/evaluate"]) == (2, 4, 2)
    assert (known["generation/steps"], known["total/steps"]) == (20, 140)
    assert known["held_out/mean"] == 5
    assert not any(name.startswith("held_out") for name in numbers())


def test_what_is_minimised_is_shown_as_the_user_s_values():
    known = numbers(config=FUNCTION, held=held_out())
    assert (known["fitness/best"], known["fitness/worst"], known["held_out/mean"]) == (-10, -1, -5)


def test_a_function_has_calls_instead_of_episodes():
    known = numbers(config=FUNCTION)
    assert known["generation/calls"] == 4
    assert not {"generation/episodes", "generation/steps", "total/steps", "episode_length/mean"} & set(known)


def test_the_past_has_the_means_and_the_held_out_evaluations():
    history = History()
    history.rows.append(row(1))
    history.evaluations.append(held_out(1))
    mean, evaluation = of_past(FUNCTION, history)
    assert mean == {"generation": 1, "fitness/mean": -4}
    assert (evaluation["generation"], evaluation["held_out/mean"]) == (1, -5)
