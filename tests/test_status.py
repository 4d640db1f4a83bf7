import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from mpi_es import status
from mpi_es.run_file import checkpoint
from mpi_es.text import duration
from tests.launching import ENDLESS, LIMIT, start, wait_for_generation

ROOT = Path(__file__).parents[1]
SMALL = ("--env", "CartPole-v1", "--population-size", 6, "--hidden", 4, "--num-eval-rollouts", 3)
TRAIN = ("-m", "mpi_es.train", *SMALL, "--no-tensorboard", "--console", "silent")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The directory of a run of three generations."""
    run = tmp_path_factory.mktemp("status") / "run"
    process = start(0, *TRAIN, "--max-iter", 3, "--run-dir", run)
    assert process.communicate(timeout=LIMIT)[1] == ""
    return run


def as_saved(directory, target, **life):
    """Copy a run with another sign of life."""
    content, _ = checkpoint.load(directory)
    target.mkdir(exist_ok=True)
    checkpoint.save(target, content | {"life": content["life"] | life})
    return target


def of_length(content, rows):
    """Return the content of a run with so many generations, all like its first."""
    groups = {
        group: {name: np.repeat(values[:1], rows) for name, values in content[group].items()}
        for group in ("history", "timing")
    }
    groups["history"]["generation"] = np.arange(1, rows + 1)
    groups["evaluations"] = {"generation": np.zeros(0, int), "returns": np.zeros((0, 0))}
    done = {name: content[name] | {"generation": rows} for name in ("progress", "last")}
    best = content["best"] | {"generation": min(rows, content["best"]["generation"])}
    return content | groups | done | {"best": best}


def test_a_finished_run(finished):
    seen = status.status(finished, time.time())
    best = checkpoint.load(finished)[0]["best"]
    assert seen.generation == "3 of 3"
    assert seen.best == f"{best['fitness']:.4g} at {best['generation']}"
    assert (seen.left, seen.state) == ("-", "last generation done")
    assert status.is_finished(finished)


def test_a_run_that_a_signal_stopped_is_to_be_continued(finished, tmp_path):
    run = as_saved(finished, tmp_path / "run", reason="stopped by SIGTERM", finished=False)
    assert status.status(run, time.time()).state == "stopped by SIGTERM; to be continued"
    assert not status.is_finished(run)


def test_a_damaged_run_is_not_finished_though_the_checkpoint_before_was(finished, tmp_path):
    image = bytearray((finished / "run.h5").read_bytes())
    (tmp_path / "run.previous.h5").write_bytes(image)
    image[-1] ^= 1
    (tmp_path / "run.h5").write_bytes(image)
    assert not status.is_finished(tmp_path)
    assert status.main(["--finished", str(tmp_path)]) == 1


@pytest.mark.parametrize(("silence", "state"), [(5, "running on"), (3600, "silent: killed or hung")])
def test_a_run_that_told_no_end_is_judged_by_its_last_save(finished, tmp_path, silence, state):
    run = as_saved(finished, tmp_path / "run", reason="", finished=False, saved=1000.0)
    seen = status.status(run, 1000.0 + silence)
    assert seen.state.startswith(state)
    assert seen.last_sign == duration(silence) + " ago"


def test_a_generation_long_ago_says_how_long_one_may_take(finished, tmp_path):
    run = as_saved(finished, tmp_path / "run", reason="", finished=False, saved=1000.0)
    content, _ = checkpoint.load(run)
    content = of_length(content, 200)
    content["timing"]["total"][:] = 1.0
    content["timing"]["total"][9] = 400.0
    checkpoint.save(run, content)
    seen = status.status(run, 2000.0)
    assert (seen.state.startswith("running on "), seen.speed.endswith(" 1 s each")) == (True, True)


@pytest.mark.parametrize(("silence", "state"), [(3 * 400 + 79, "running"), (3 * 400 + 81, "silent")])
def test_three_of_the_longest_generations_the_rest_and_a_minute_are_silence(
    finished, tmp_path, silence, state
):
    run = as_saved(finished, tmp_path / "run", reason="", finished=False, saved=1000.0, rest=20.0)
    content, _ = checkpoint.load(run)
    content["timing"]["total"][:] = 400.0
    checkpoint.save(run, content)
    assert status.status(run, 1000.0 + silence).state.startswith(state)


def test_the_first_generation_may_take_long(finished, tmp_path):
    run = as_saved(finished, tmp_path / "run", reason="", finished=False, saved=1000.0)
    content, _ = checkpoint.load(run)
    checkpoint.save(run, of_length(content, 0))
    seen = status.status(run, 5000.0)
    assert (seen.state.startswith("running on "), seen.state.endswith(", no generation done")) == (True, True)


def test_a_target_makes_the_time_left_an_upper_limit(finished, tmp_path):
    run = as_saved(finished, tmp_path / "run", reason="", finished=False, saved=1000.0)
    content, _ = checkpoint.load(run)
    content["timing"]["total"][:] = 2.0
    config = content["config"] | {"max_iter": 63}
    for target, left in ((None, "2 min 00 s"), (475.0, "at most 2 min 00 s")):
        checkpoint.save(run, content | {"config": config | {"target_fitness": target}})
        assert status.status(run, 1000.0).left == left


def test_generations_are_counted_for_scripts(finished, tmp_path, capsys):
    assert status.main(["--generations", str(finished), str(tmp_path), str(finished)]) == 0
    assert capsys.readouterr().out == "6\n"


def test_a_run_of_before_there_were_signs(finished, tmp_path):
    content, _ = checkpoint.load(finished)
    del content["life"]
    checkpoint.save(tmp_path, content)
    assert status.status(tmp_path, 0.0).state.startswith("saved by an older version")


def test_what_cannot_be_read_is_reported_beside_what_can(finished, tmp_path):
    command = [sys.executable, "-m", "mpi_es.status", str(finished), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    assert (done.returncode, done.stdout.count("\n"), done.stderr.count("\n")) == (2, 2, 1)
    assert "expected a directory that holds run.h5" in done.stderr


def test_a_summary_of_a_sweep_tells_of_a_task_without_a_run_and_draws_the_others(finished, tmp_path):
    shutil.copytree(finished, tmp_path / "seed-1")
    (tmp_path / "seed-2").mkdir()
    command = ["bash", "slurm/summary.sh", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=LIMIT)
    summary = (tmp_path / "summary.txt").read_text()
    assert ["last generation done" in summary, "seed-2" in summary] == [True, True]
    assert (tmp_path / "report.html").exists()


def test_it_can_be_asked_all_the_time_of_a_run_under_way(tmp_path):
    run = tmp_path / "run"
    process = start(
        2, *TRAIN, "--max-iter", ENDLESS, "--eval-every", 0, "--run-dir", run, start_new_session=True
    )
    try:
        wait_for_generation(run, 1)
        asked = [status.status(run, time.time()) for _ in range(20)]
        wait_for_generation(run, int(asked[-1].generation.split()[0]) + 1)  # it goes on
        assert all(row.state.startswith("running on") for row in asked)
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=LIMIT)[1] == ""
    finally:
        process.kill()
