import json

import numpy as np
import pytest

from mpi_es import load_run
from mpi_es.config.parts import declared
from mpi_es.config.run import Config, configured
from mpi_es.errors import RolloutError, UserError
from mpi_es.telemetry.callback import Callback, CallbackSink
from tests.telemetry.records import TIMING, held_out, row

NAME = "tests.telemetry.callbacks:"
FEW = ["--max-iter", 3, "--population-size", 6, "--num-eval-rollouts", 2, "--no-tensorboard", "--seed", 7]
CARTPOLE = ["-m", "mpi_es.train", "--env", "CartPole-v1", "--hidden", 4, *FEW]


def notes(directory):
    return [json.loads(line) for line in (directory / "notes.txt").read_text().splitlines()]


def test_it_gets_options_directory_each_generation_and_the_end(tmp_path):
    sink = CallbackSink(Callback(NAME + "Notes", tmp_path), steps=100)
    sink.start(configured(seed=5), ["a fact"], 0)
    sink.generation(row(1), TIMING, None)
    sink.generation(row(2), TIMING, held_out(2))
    sink.finish("done", held_out(3))
    sink.close()
    begin, first, second, last, end, closed = notes(tmp_path)
    assert begin["seed"] == 5
    assert begin.keys() == declared(Config).keys()
    assert (first["generation"], first["fitness/mean"], first["total/steps"]) == (1, 4, 120)
    assert (second["generation"], second["held_out/mean"]) == (2, 5)
    assert (last["generation"], last["held_out/mean"]) == (3, 5)
    assert (end, closed) == ("done", "closed")


def test_generation_is_the_only_method_that_it_needs(tmp_path):
    callback = Callback(NAME + "Silent", tmp_path)
    callback.close()  # before start
    callback.start(configured())
    callback.generation(1, {})
    callback.finish("done")
    callback.close()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (NAME + "WithoutMethod", "expected a class with a method generation, got '.*WithoutMethod'"),
        (NAME + "Broken", "its constructor failed: ValueError: no account"),
        (NAME + "Silents", "did you mean 'Silent'"),
        ("nowhere:Class", "--callback: expected a module that can be imported, got 'nowhere'"),
    ],
)
def test_a_mistake_is_one_line(name, text, tmp_path):
    with pytest.raises(UserError, match=text):
        Callback(name, tmp_path).start(configured())


def test_what_it_raises_names_it(tmp_path):
    callback = Callback(NAME + "Failing", tmp_path)
    callback.start(configured())
    with pytest.raises(RolloutError, match=r"--callback .*Failing: generation failed: OSError: no network"):
        callback.generation(2, {})


def test_rank_0_alone_calls_it_and_a_resumed_run_goes_on(launch, tmp_path, exact):
    begun = launch(3, *CARTPOLE, "--run-dir", tmp_path / "run", "--callback", NAME + "Notes", "--max-iter", 2)
    assert begun.returncode == 0, begun.stderr
    resumed = launch(2, "-m", "mpi_es.train", "--resume", tmp_path / "run", "--max-iter", 3)
    assert resumed.returncode == 0, resumed.stderr
    numbers = [note for note in notes(tmp_path / "run") if "fitness/mean" in note]
    assert [note["generation"] for note in numbers] == [1, 2, 3]
    history = load_run(tmp_path / "run")["history"]
    assert [note["total/steps"] for note in numbers] == history["steps"].cumsum().tolist()


def test_a_run_whose_callback_raises_is_saved_and_goes_on_without(launch, tmp_path, exact):
    failed = launch(2, *CARTPOLE, "--run-dir", tmp_path / "run", "--callback", NAME + "Failing")
    assert failed.returncode == 2
    assert "generation failed: OSError: no network" in failed.stderr
    assert load_run(tmp_path / "run")["progress"]["generation"] == 2
    resumed = launch(2, "-m", "mpi_es.train", "--resume", tmp_path / "run", "--callback=")
    assert resumed.returncode == 0, resumed.stderr
    whole = launch(0, *CARTPOLE, "--run-dir", tmp_path / "whole")
    assert whole.returncode == 0, whole.stderr
    np.testing.assert_equal(exact(tmp_path / "run"), exact(tmp_path / "whole"))


def test_a_callback_that_exits_ends_the_run_on_all_ranks(launch, tmp_path):
    failed = launch(2, *CARTPOLE, "--run-dir", tmp_path / "run", "--callback", NAME + "Leaving")
    assert failed.returncode == 2
    assert "generation failed: SystemExit: enough" in failed.stderr
    assert load_run(tmp_path / "run")["progress"]["generation"] == 1


def test_a_population_has_callbacks_too(launch, tmp_path):
    few = ["--max-iter", 2, "--num-eval-rollouts", 2, "--no-tensorboard", "--callback", NAME + "Notes"]
    done = launch(
        2, "-m", "pbt.train", "--member", "toy", "--num-agents", 4, "--run-dir", tmp_path / "run", *few
    )
    assert done.returncode == 0, done.stderr
    numbers = [note for note in notes(tmp_path / "run") if "score/best" in note]
    assert [note["generation"] for note in numbers] == [1, 2]
    assert {"score/3", "seconds/total"} <= numbers[0].keys()
