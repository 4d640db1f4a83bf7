"""Where MPI has ULFM, the others outlive a rank, and the run is the same to the bit."""

import os
import re
import signal

import pytest

import pbt.train
from mpi_es import train
from mpi_es.run_file import checkpoint
from mpi_es.status import generations
from tests.faults.survivors import LAST, OPTIONS, TRAIN, process_of, strike, survivors
from tests.launching import LIMIT, ROOT, assert_same, exact_content, run_here, wait_until
from tests.pbt.runs import WALKERS
from tests.pbt.runs import exact as exact_population

SLOW = pytest.mark.slow
SEEDED = ("--strategy", "openai_es")


@pytest.fixture(scope="module", params=[(), pytest.param(SEEDED, marks=SLOW)], ids=["cma_es", "openai_es"])
def setting(request, tmp_path_factory):
    """Options of a run, and its directory after it was led to its end undisturbed."""
    options = (*OPTIONS, "--eval-every", 5, "--max-iter", LAST, *request.param)
    run = tmp_path_factory.mktemp("calm") / "run"
    run_here(train, *options, "--env-options", "pause=0", "--run-dir", run, "--console", "silent")
    return ("-m", "mpi_es.train", *options), run


def assert_ended_well(process, run, calm):
    out, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, err
    assert f"generation {LAST}: last generation done" in out
    assert_same(exact_content(run), exact_content(calm))
    return err


@pytest.mark.parametrize("dispatch", ["dynamic", pytest.param("static", marks=SLOW)])
def test_the_others_go_on_without_a_rank_and_without_another(setting, tmp_path, dispatch):
    options, calm = setting
    run = tmp_path / "run"
    process = survivors(4, *options, "--dispatch", dispatch, "--run-dir", run)
    for rank in (2, 1):
        strike(run, rank, 3)
    err = assert_ended_well(process, run, calm)
    assert re.findall(r"(\d) of (\d) ranks lost; the others continue", err) == [("1", "4"), ("1", "3")]
    assert re.findall(r"error: rank (\d) on .* died", err) == ["2", "1"]


def test_without_rank_0_they_begin_anew_where_the_file_is(setting, tmp_path):
    options, calm = setting
    run = tmp_path / "run"
    process = survivors(3, *options, "--run-dir", run)
    strike(run, 0, 3)
    err = assert_ended_well(process, run, calm)
    assert "warning: ranks lost; 2 continue from the last checkpoint" in err


def test_a_run_without_a_name_continues_in_its_own_directory(tmp_path):
    (name := tmp_path / "options.toml").touch()
    command = ("-m", "pbt.train", "toy", "--config", name, "--checkpoint-interval", 0, "--max-iter")
    assert survivors(1, *command, 2, place=tmp_path).wait(LIMIT) == 0
    (earlier,) = (tmp_path / "runs").iterdir()
    process = survivors(3, *command, 10**6, place=tmp_path)
    second = earlier.with_name(earlier.name + "-2")
    done = wait_until(lambda: checkpoint.exists(second) and generations(second), "a generation")
    os.kill(process_of(name, 0), signal.SIGKILL)
    wait_until(lambda: generations(second) > done + 50, "the generations after the loss")
    process.terminate()
    assert "2 continue from" in process.communicate(timeout=LIMIT)[1]
    assert generations(earlier) == 2


@SLOW
def test_all_but_one_may_die_at_once(setting, tmp_path):
    options, calm = setting
    run = tmp_path / "run"
    process = survivors(5, *options, "--run-dir", run)
    strike(run, 4, 3)
    # Found before the first is killed: those that are left then may be beginning anew.
    for process_id in [process_of(run, rank) for rank in (0, 1, 2)]:
        os.kill(process_id, signal.SIGKILL)
    assert_ended_well(process, run, calm)


def test_who_prefers_it_lets_the_job_end(tmp_path):
    run = tmp_path / "run"
    process = survivors(3, *TRAIN, "--max-iter", 10**5, "--on-rank-loss", "abort", "--run-dir", run)
    strike(run, 1, 3)
    out, _ = process.communicate(timeout=LIMIT)
    assert process.returncode != 0
    assert "a rank that dies ends the job" in out
    assert generations(run) >= 3


CALLS = """
import os, signal, mpi_es
def deadly(x):
    if os.environ["OMPI_COMM_WORLD_RANK"] == "2":
        os.kill(os.getpid(), signal.SIGKILL)
    return abs(x[0])
options = {"population_size": 8, "max_iter": 4, "run_dir": None, "console": "silent"}
mpi_es.minimise(lambda x: abs(x[0]), [1.0] * 4, on_rank_loss="abort", **options)
mpi_es.minimise(deadly, [1.0] * 4, on_rank_loss="shrink", **options)
print("rank", mpi_es.rank())
"""


def test_a_call_that_would_let_the_job_end_does_not_decide_for_the_next_one():
    out, err = survivors(3, "-c", CALLS).communicate(timeout=LIMIT)
    assert sorted(out.splitlines()) == ["rank 0", "rank 1"], err


def test_what_no_mpi_can_do_is_refused(launch, tmp_path):
    done = launch(2, *TRAIN, "--on-rank-loss", "shrink", "--run-dir", tmp_path / "run", cwd=ROOT)
    assert done.returncode == 2
    rule = "error: --on-rank-loss: expected abort, since a lost rank ends the job here, got 'shrink'; start"
    assert done.stderr.startswith(rule)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("dispatch", ["dynamic", pytest.param("static", marks=SLOW)])
def test_a_rank_that_hangs_is_left_behind_and_its_episodes_are_played_elsewhere(
    monkeypatch, tmp_path, dispatch
):
    options = (*OPTIONS, "--env", "tests.faults.broken_envs:hanging_once", "--max-iter", 14)
    calm, run = tmp_path / "calm", tmp_path / "run"
    run_here(train, *options, "--run-dir", calm, "--console", "silent")
    monkeypatch.setenv("HANG_ONCE", str(tmp_path / "hangs"))
    # Without the root, two ranks play all 252 episodes: one of them comes to its 61st.
    options += ("--dispatch", dispatch, "--dedicated-root", "yes", "--evaluation-timeout", 5)
    process = survivors(3, "-m", "mpi_es.train", *options, "--run-dir", run)
    _, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, err
    assert re.search(r"error: rank [12] on \S+ hangs: no episode began or ended for 5 s .*candidate \d", err)
    assert "1 of 3 ranks lost; the others continue" in err
    assert_same(exact_content(run), exact_content(calm))


def test_the_members_of_a_lost_rank_come_back_from_the_file(tmp_path):
    options = ("--member", WALKERS + "Walker", "--num-agents", 5, "--num-rollouts", 3, "--max-iter", 14)
    options += ("--steps", 3 * 10**5, "--no-tensorboard", "--checkpoint-interval", 0)
    calm, run = tmp_path / "calm", tmp_path / "run"
    run_here(pbt.train, *options, "--run-dir", calm, "--console", "silent")
    process = survivors(4, "-m", "pbt.train", *options, "--run-dir", run)
    for rank in (3, 0):
        strike(run, rank, 3)
    out, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, err
    assert re.findall(r"(\d) continue from", err) == ["3", "2"]
    assert "generation 14: last generation done" in out
    assert_same(exact_population(run), exact_population(calm))
