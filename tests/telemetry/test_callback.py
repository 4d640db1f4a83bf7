import json

import numpy as np
import pytest

from mpi_es import load_run
from mpi_es.config.parts import declared, without_effect
from mpi_es.config.run import Config, configured
from mpi_es.errors import RolloutError, UserError
from mpi_es.telemetry.callback import Callback
from tests.telemetry.records import evaluation, numbers

NAME = "tests.telemetry.callbacks:"
FEW = ["--max-iter", 3, "--population-size", 6, "--num-eval-rollouts", 2, "--no-tensorboard", "--seed", 7]
CARTPOLE = ["-m", "mpi_es.train", "--env", "CartPole-v1", "--hidden", 4, *FEW]


def notes(directory):
    return [json.loads(line) for line in (directory / "notes.txt").read_text().splitlines()]


def test_it_gets_options_directory_each_generation_and_the_end(tmp_path):
    sink = Callback(configured(seed=5, callback=NAME + "Notes"), tmp_path)
    sink.start(["a fact"], 0)
    sink.generation(numbers(1, steps=120))
    sink.generation(evaluation(2))
    sink.finish("done")
    sink.close()
    begin, first, last, end, closed = notes(tmp_path)
    assert begin["seed"] == 5
    assert begin.keys() == declared(Config).keys() - without_effect(configured()).keys()
    assert {"env", "hidden", "num_rollouts"} <= begin.keys()
    assert (first["generation"], first["fitness/mean"], first["total/steps"]) == (1, 4, 120)
    assert (last["generation"], last["held_out/mean"]) == (2, 5)
    assert (end, closed) == ("done", "closed")


def test_it_does_not_get_options_of_an_environment_that_the_run_does_not_have(tmp_path):
    Callback(configured(function="math:fsum", callback=NAME + "Notes"), tmp_path).start([], 0)
    (options,) = notes(tmp_path)
    assert options["function"] == "math:fsum"
    assert not {"env", "policy", "hidden", "obs_norm"} & options.keys()


def test_generation_is_the_only_method_that_it_needs(tmp_path):
    callback = Callback(configured(callback=NAME + "Silent"), tmp_path)
    callback.close()  # before start
    callback.start([], 0)
    assert callback.generation({"generation": 1}) == ""
    callback.finish("done")
    callback.close()


@pytest.mark.parametrize(
    ("answer", "stops"),
    [(True, True), (np.True_, True), (False, False), (None, False), (1, False), ("a", False)],
)
def test_only_true_stops_the_run(answer, stops, tmp_path):
    callback = Callback(configured(callback=NAME + "Answering"), tmp_path)
    callback.start([], 0)
    expected = f"stopped by --callback {NAME}Answering" if stops else ""
    assert callback.generation({"generation": 1, "answer": answer}) == expected


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
        Callback(configured(callback=name), tmp_path).start([], 0)


def test_what_it_raises_names_it(tmp_path):
    callback = Callback(configured(callback=NAME + "Failing"), tmp_path)
    callback.start([], 0)
    with pytest.raises(RolloutError, match=r"--callback .*Failing: generation failed: OSError: no network"):
        callback.generation({"generation": 2})


def test_rank_0_alone_calls_it_and_a_resumed_run_goes_on(launch, tmp_path, exact):
    begun = launch(3, *CARTPOLE, "--run-dir", tmp_path / "run", "--callback", NAME + "Notes", "--max-iter", 2)
    assert begun.returncode == 0, begun.stderr
    resumed = launch(2, "-m", "mpi_es.train", "--resume", tmp_path / "run", "--max-iter", 3)
    assert resumed.returncode == 0, resumed.stderr
    seen = [note for note in notes(tmp_path / "run") if "fitness/mean" in note]
    assert [note["generation"] for note in seen] == [1, 2, 3]
    history = load_run(tmp_path / "run")["history"]
    assert [note["total/steps"] for note in seen] == history["steps"].cumsum().tolist()


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
    seen = [note for note in notes(tmp_path / "run") if "score/best" in note]
    assert [note["generation"] for note in seen] == [1, 2]
    assert {"score/3", "seconds/total"} <= seen[0].keys()


STOPPED = f"stopped by --callback {NAME}Stopping"


def stopped(run):
    """Return the generations of a run, whether it is finished, and why it ended."""
    content = load_run(run)
    life = content["life"]
    return content["progress"]["generation"], bool(life["finished"]), life["reason"]


@pytest.mark.parametrize("ranks", [0, 2])
def test_a_callback_stops_a_run_which_can_be_continued(ranks, launch, tmp_path):
    run = tmp_path / "run"
    done = launch(ranks, *CARTPOLE, "--run-dir", run, "--callback", NAME + "Stopping", "--console", "lines")
    assert done.returncode == 0, done.stderr
    assert f"generation 2: {STOPPED}; best held-out mean" in " ".join(done.stdout.split())
    assert stopped(run) == (2, True, STOPPED)
    assert load_run(run)["evaluations"]["generation"].tolist() == [2]
    again = launch(ranks, "-m", "mpi_es.train", "--resume", run, "--envs-per-rank", 3)
    assert (again.returncode, stopped(run)) == (0, (2, True, STOPPED))
    resumed = launch(ranks, "-m", "mpi_es.train", "--resume", run, "--callback=")
    assert resumed.returncode == 0, resumed.stderr
    assert stopped(run) == (3, True, "last generation done")


def test_a_callback_stops_a_population_on_all_ranks(launch, tmp_path):
    few = ["--max-iter", 9, "--num-eval-rollouts", 2, "--no-tensorboard", "--callback", NAME + "Stopping"]
    run = tmp_path / "run"
    done = launch(2, "-m", "pbt.train", "--member", "toy", "--num-agents", 4, "--run-dir", run, *few)
    assert done.returncode == 0, done.stderr
    assert f"generation 2: {STOPPED}; member " in " ".join(done.stdout.split())
    assert stopped(run) == (2, True, STOPPED)
