from mpi_es.config.run import configured
from mpi_es.telemetry.tags import Tags
from tests.telemetry.records import TIMING, held_out, row


def test_a_generation_has_its_fitness_its_times_and_the_steps_of_all():
    tags = Tags(configured(), steps=100)
    first, second = (tags.generation(row(number), TIMING, None) for number in (1, 2))
    assert first["fitness/mean"] == 4
    assert first["seconds/evaluate"] == 2
    assert (first["total/steps"], second["total/steps"]) == (120, 140)
    assert not any(tag.startswith("held_out") for tag in first)
    assert tags.generation(row(3), TIMING, held_out(3))["held_out/mean"] == 5


def test_what_is_minimised_is_shown_as_the_user_s_values():
    tags = Tags(configured(function="f:f", minimise=True))
    numbers = tags.generation(row(1), TIMING, held_out(1))
    assert (numbers["fitness/best"], numbers["fitness/worst"]) == (-10, -1)
    assert numbers["held_out/mean"] == -5


def test_a_function_has_calls_instead_of_episodes():
    numbers = Tags(configured(function="f:f")).generation(row(1), TIMING, None)
    assert numbers["generation/calls"] == 4
    assert not {"generation/episodes", "generation/steps", "total/steps", "episode_length/mean"} & set(
        numbers
    )
