import re
import shutil
import signal
import sys
import time

import numpy as np
import pytest

from mpi_es import status, train
from mpi_es.run_file import checkpoint
from tests.launching import (
    ENDLESS,
    LIMIT,
    ROOT,
    apart_from_compiling,
    call,
    run_here,
    start,
    wait_for_generation,
)

SMALL = ("--env", "CartPole-v1", "--population-size", 6, "--hidden", 4, "--num-eval-rollouts", 3)
TRAIN = (*SMALL, "--no-tensorboard", "--console", "silent")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The directory of a run of three generations."""
    run = tmp_path_factory.mktemp("status") / "run"
    run_here(train, *TRAIN, "--max-iter", 3, "--run-dir", run)
    return run


def as_saved(finished, target, life, times=None, **options):
    """Copy a run with another sign of life, or none, seconds of its generations and options."""
    content, _ = checkpoint.load(finished)
    content["life"] = content["life"] | {"reason": "", "finished": False, "saved": 1000.0} | (life or {})
    if life is None:
        del content["life"]
    if times is not None:
        content = of_length(content, len(times))
        content["timing"]["total"][:] = times
    checkpoint.save(target, content | {"config": content["config"] | options})
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
    run = as_saved(finished, tmp_path, {"reason": "stopped by SIGTERM"})
    assert status.status(run, time.time()).state == "stopped by SIGTERM; to be continued"
    assert not status.is_finished(run)


def test_a_damaged_run_is_not_finished_though_the_checkpoint_before_was(finished, tmp_path):
    image = bytearray((finished / "run.h5").read_bytes())
    (tmp_path / "run.previous.h5").write_bytes(image)
    image[-1] ^= 1
    (tmp_path / "run.h5").write_bytes(image)
    assert not status.is_finished(tmp_path)
    assert status.main(["--finished", str(tmp_path)]) == 1


ONE_LONG = [*[1.0] * 9, 400.0, *[1.0] * 190]  # three of the longest, the rest and a minute are silence


@pytest.mark.parametrize(
    ("life", "times", "silence", "seen"),
    [
        ({}, None, 5, {"state": "running on", "last_sign": "5 s ago"}),
        ({}, None, 3600, {"state": "silent: killed or hung", "last_sign": "1 h 00 min ago"}),
        ({"rest": 20.0}, [400.0] * 3, 3 * 400 + 79, {"state": "running"}),
        ({"rest": 20.0}, [400.0] * 3, 3 * 400 + 81, {"state": "silent"}),
        ({}, ONE_LONG, 1000, {"state": "running on ", "speed": ".* 1 s each$"}),
        ({}, [], 40, {"state": "running on .*, no generation saved$"}),
        ({}, [], 4000, {"state": "running or killed on .*, no generation saved$"}),
    ],
)
def test_a_run_that_told_no_end_is_judged_by_its_last_save(finished, tmp_path, life, times, silence, seen):
    row = status.status(as_saved(finished, tmp_path, life, times), 1000.0 + silence)
    for name, words in seen.items():
        assert re.match(words, getattr(row, name))


@pytest.mark.parametrize(("target", "left"), [(None, "2 min 00 s"), (475.0, "at most 2 min 00 s")])
def test_a_target_makes_the_time_left_an_upper_limit(finished, tmp_path, target, left):
    run = as_saved(finished, tmp_path, {}, [2.0] * 3, max_iter=63, target_fitness=target)
    assert status.status(run, 1000.0).left == left


def test_generations_are_counted_for_scripts(finished, tmp_path, capsys):
    assert status.main(["--generations", str(finished), str(tmp_path), str(finished)]) == 0
    assert capsys.readouterr().out == "6\n"


def test_what_cannot_be_read_is_reported_beside_what_can(finished, tmp_path, capsys):
    assert status.main([str(finished), str(tmp_path)]) == 2
    out, err = capsys.readouterr()
    assert (out.count("\n"), err.count("\n")) == (2, 1)
    assert "expected a directory that holds run.h5" in err


def test_a_reader_may_leave_after_the_first_line(finished):
    words = f"set -o pipefail; PYTHONUNBUFFERED=1 {sys.executable} -m mpi_es.status {finished} | head -1"
    done = call("bash", "-c", words)
    assert (done.returncode, done.stderr, done.stdout.count("\n")) == (0, "", 1)


def test_a_summary_of_a_sweep_tells_of_a_task_without_a_run_and_draws_the_others(finished, tmp_path):
    shutil.copytree(finished, tmp_path / "seed-1")
    (tmp_path / "seed-2").mkdir()
    call("bash", "slurm/summary.sh", tmp_path, cwd=ROOT, check=True)
    summary = (tmp_path / "summary.txt").read_text()
    assert ["last generation done" in summary, "seed-2" in summary] == [True, True]
    assert (tmp_path / "report.html").exists()


def test_it_can_be_asked_all_the_time_of_a_run_under_way(tmp_path):
    options = ("--max-iter", ENDLESS, "--eval-every", 0, "--checkpoint-interval", 0)
    run = tmp_path / "run"
    process = start(2, "-m", "mpi_es.train", *TRAIN, *options, "--run-dir", run, start_new_session=True)
    wait_for_generation(run, 1)
    asked = [status.status(run, time.time()) for _ in range(20)]
    wait_for_generation(run, int(asked[-1].generation.split()[0]) + 1)  # it goes on
    assert all(row.state.startswith("running on") for row in asked)
    process.send_signal(signal.SIGTERM)
    assert apart_from_compiling(process.communicate(timeout=LIMIT)[1]) == ""
