"""Mistakes and failures end all ranks with one line; none of them hangs."""

import re
import shutil
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

import mpi_es.train
from mpi_es.errors import RolloutError, UserError
from mpi_es.parallel.collectives import SerialComm
from mpi_es.parallel.stop_signal import Stopped
from mpi_es.run_file import checkpoint
from mpi_es.run_file.lock import locked
from mpi_es.run_file.run_status import stamp
from mpi_es.status import is_finished
from mpi_es.telemetry.lines import Lines
from pbt import train
from pbt.population.population import MemberFailed, Population
from tests.launching import ROOT, assert_same, refused
from tests.pbt.runs import WALKERS, exact
from tests.pbt.user_members import Walker

TRAIN = ("-m", "pbt.train", "--console", "silent", "--no-tensorboard", "--num-agents", "5")
TRAIN += ("--checkpoint-interval", "0")

MISTAKES = [
    ("--member tooy", r"--member: expected one of .*, got 'tooy'; did you mean 'toy'\?"),
    ("--member json:JSONDecoder", r"--member: expected a subclass of pbt.Member"),
    ("--member tests.pbt.user_members:Untyped", r"--member: expected a class whose declared returns"),
    ("--member tests.pbt.user_members:Undeclared", r"--member: expected a class whose declared returns"),
    ("--member tests.pbt.user_members:Undeclaring", r"--member .*: declared failed: ValueError: no rate"),
    ("--selection truncate", r"--selection: expected one of .*did you mean 'truncation'\?"),
    ("--fraction 0.6", r"--fraction: expected a number in \(0, 0.5\], got 0.6"),
    ("--resample 2", r"--resample: expected a number in \[0, 1\], got 2.0"),
    ("--tune h2", r"--tune, of toy: expected one of h0, h1, got 'h2'"),
    ("--ranks-per-member 2", r"--ranks-per-member: expected 1, since one rank trains a member toy, got 2"),
    ("--selection tournament --fraction 0.3", r"--fraction: expected to be left out, as it has no effect"),
    ("--explore pb2 --resample 0.3", r"--resample: expected .*no effect with --explore pb2"),
    ("--selection none --copy all", r"--copy: expected .*no effect with --selection none"),
    ("--selection none --explore none", r"--explore: expected .*no effect with --selection none"),
    ("--copy nothing --explore none", r"--copy: expected all or weights with --explore none"),
    ("--periods 1 3", r"--periods: expected .*no effect with --selection truncation"),
    ("--selection mf-pbt --periods 2 2", r"--periods: expected distinct whole numbers ≥ 1, got \(2, 2\)"),
    ("--selection mf-pbt --num-agents 7", r"--num-agents: expected ≥ 8, 4 for each of --periods, got 7"),
    ("--tune none", r"--tune: expected hyperparameters to explore, or --selection none"),
    ("toy --env CartPole-v0", r"--env: expected to be left out, since members toy do not use it"),
    ("--env CartPole-v1", r"--env: .*, got 'CartPole-v1'; use --member sb3 or --member es, which play env"),
    ("--member es --num-envs 4", r"--num-envs: expected to be left out, since members es do not use it"),
    ("--num-agents 0", r"--num-agents: expected a number ≥ 1, got 0"),
    ("to", r"preset: expected one of .*did you mean 'toy'\?"),
    ("--resume /nowhere", r"run: expected a directory that holds run.h5, got '/nowhere'"),
]


def test_an_option_without_effect_in_a_file_is_reported(tmp_path, capsys):
    file = tmp_path / "my.toml"
    file.write_text('selection = "winner-takes-all"\nfraction = 0.1')
    train.prepare(["toy", "--config", str(file)])
    assert capsys.readouterr().err == "warning: no effect with --selection winner-takes-all: --fraction\n"


@pytest.mark.parametrize(("arguments", "complaint"), MISTAKES)
def test_a_mistake_on_the_command_line(arguments, complaint):
    with pytest.raises(UserError, match=complaint) as caught:
        train.prepare(arguments.split())
    assert "\n" not in str(caught.value)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The directory of a run of two generations, and what its file holds."""
    run = tmp_path_factory.mktemp("finished") / "run"
    arguments = ["toy", "--max-iter", "2", "--console", "silent", "--no-tensorboard", "--run-dir", str(run)]
    assert train.main(SerialComm(), arguments) == 0
    return run


def test_a_run_of_another_program_is_refused_with_what_reads_it(finished):
    with pytest.raises(UserError, match=r"expected a run of mpi_es.train, got .*; use python -m pbt.report"):
        mpi_es.train.prepare(["--resume", str(finished)])


@pytest.mark.parametrize(
    ("option", "complaint"),
    [
        ("--num-agents 4", r"--num-agents: expected 2, with which the run began, got 4"),
        ("--selection tournament", r"--selection: expected 'truncation', with which the run began"),
        ("--run-dir other", r"--run-dir: expected .*, with which the run began, got 'other'"),
    ],
)
def test_another_population_cannot_be_resumed(finished, option, complaint):
    with pytest.raises(UserError, match=complaint):
        train.prepare(["--resume", str(finished), *option.split()])


def test_a_run_is_never_overwritten(finished):
    with pytest.raises(UserError, match=r"--run-dir: .* holds a run already; .* -m pbt.train --resume"):
        train.prepare(["toy", "--run-dir", str(finished)])


def test_a_run_of_mpi_es_train_cannot_be_resumed(tmp_path):
    checkpoint.save(tmp_path, {"config": {"env": "CartPole-v1"}})
    with pytest.raises(UserError, match=r"run: expected a run of pbt.train, got .* of mpi_es.train"):
        train.prepare(["--resume", str(tmp_path)])


def test_the_file_holds_every_generation_of_every_member(finished):
    content, _ = checkpoint.load(finished)
    history = content["history"]
    assert {name: history[name].shape for name in ("score", "length", "source")} == {
        "score": (2, 2),
        "length": (2, 2),
        "source": (2, 2),
    }
    assert history["hyperparameters"]["h0"][0].tolist() == [1, 0]
    assert sorted(content["members"]) == ["0000", "0001"]
    assert content["members"]["0000"]["theta"].shape == (2,)
    assert content["best"]["fitness"] == history["score"][1].max()


def test_a_member_that_raises_is_reported_once_with_its_traceback(launch, tmp_path):
    options = ("--member", WALKERS + "Raising", "--run-dir", tmp_path / "run")
    done = launch(3, *TRAIN, *options, cwd=ROOT)
    assert (done.returncode, done.stderr.count("Traceback")) == (2, 1)
    told = r"error: rank \d on \S+: member 3: ValueError: the simulator broke\nTraceback"
    assert re.match(told, done.stderr)
    assert checkpoint.load(tmp_path / "run")[0]["progress"]["generation"] == 1


def test_a_member_that_changes_its_hyperparameters_is_reported_in_one_line(tmp_path):
    line = refused(2, *TRAIN, "--member", WALKERS + "Leaving", "--run-dir", tmp_path / "run", cwd=ROOT)
    assert re.search(r"member 0: rate: expected \S+ in the learner, as the .* got \d+", line)


@pytest.mark.parametrize(
    ("member", "complaint"),
    [
        (
            "Slashing",
            r"member 0: state: expected names that are texts without '/', and not '.', got 'net/place'\n$",
        ),
        ("Short", r"member 0: score: expected returns and lengths \(10,\), got \(\(1,\), \(1,\)\)\n$"),
        ("Bare", r"member 0: score: expected a pbt.Score, got -1.0\n$"),
        ("Uninitial", r"member 0: rate: expected a finite initial value, got None\n$"),
        ("Unmade", r"member 0: OSError: no simulator\nTraceback(.*\n)*OSError: no simulator\n$"),
    ],
)
def test_a_member_that_breaks_its_contract_is_reported(launch, tmp_path, member, complaint):
    done = launch(2, *TRAIN, "--member", WALKERS + member, "--run-dir", tmp_path / "run", cwd=ROOT)
    assert done.returncode == 2
    assert re.match(r"error: rank 0 on \S+: " + complaint, done.stderr), done.stderr


def test_a_module_that_one_rank_lacks_ends_all_ranks(tmp_path):
    options = ("--member", "es", "--env", "tests.faults.broken_envs:lacking", "--run-dir", tmp_path / "run")
    assert refused(2, *TRAIN, *options, cwd=ROOT) == "error: --env: not on rank 1\n"


class Interrupted(Walker):
    """Fails in its second generation, as if a signal had ended a program that it had started."""

    def train(self, steps):
        if self.generation == 2:
            self.stop.name = "SIGTERM"
            raise OSError("the program was ended")
        super().train(steps)


def test_a_signal_that_also_ends_the_program_of_a_member_stops_the_run(tmp_path):
    options = ["--member", f"{__name__}:Interrupted", "--steps", "9", "--num-agents", "2"]
    run = tmp_path / "run"
    assert train.main(SerialComm(), [*options, "--console", "silent", "--run-dir", str(run)]) == 0
    assert checkpoint.load(run)[0]["life"]["reason"] == "stopped by SIGTERM"


def fails(*_):
    raise MemberFailed("member 2: ValueError: broken\nTraceback\nValueError: broken")


def stops(*_):
    raise Stopped


@pytest.mark.parametrize(
    ("every", "place", "ending", "done", "reason"),
    [
        (2, "evaluate", stops, 1, "stopped by a signal on another rank"),
        (0, "evaluate", stops, 3, "stopped by a signal on another rank"),  # in the last generation
        (2, "adopt", fails, 0, "member 2: ValueError: broken"),
        (2, "evaluate", fails, 1, "member 2: ValueError: broken"),
    ],
)
def test_a_generation_that_ends_early_does_not_count(
    trained, tmp_path, monkeypatch, every, place, ending, done, reason
):
    run = tmp_path / "run"
    options = ("--member", WALKERS + "Walker", "--num-agents", 5, "--steps", 9, "--eval-every", every)
    options += ("--max-iter", 4, "--num-eval-rollouts", 3)
    with monkeypatch.context() as patch:
        patch.setattr(Population, place, ending)
        with pytest.raises(RolloutError) if ending is fails else nullcontext():
            trained(run, *options)
    content = checkpoint.load(run)[0]
    assert (content["progress"]["generation"], len(content["history"]["score"])) == (done, done)
    assert (content["life"]["reason"], content["life"]["finished"]) == (reason, False)
    trained(tmp_path / "unbroken", *options)
    assert train.main(SerialComm(), ["--resume", str(run)]) == 0
    assert_same(exact(run), exact(tmp_path / "unbroken"))


def test_a_full_disk_under_the_log_ends_the_run_after_a_save(tmp_path, monkeypatch):
    def full(self, numbers):
        if numbers["generation"] == 3:
            raise UserError("--console: cannot write (No space left on device)")

    monkeypatch.setattr(Lines, "generation", full)
    options = ["--member", WALKERS + "Walker", "--num-agents", "5", "--steps", "9", "--max-iter", "4"]
    options += ["--checkpoint-interval", "1000", "--console", "lines", "--run-dir", str(tmp_path / "run")]
    with pytest.raises(UserError, match="No space left"):
        train.main(SerialComm(), options)
    content = checkpoint.load(tmp_path / "run")[0]
    assert content["progress"]["generation"] == 3
    assert content["life"]["reason"] == "--console: cannot write (No space left on device)"


def test_a_rank_that_dies_ends_the_job_and_leaves_the_last_checkpoint(launch, tmp_path):
    done = launch(3, *TRAIN, "--member", WALKERS + "Dying", "--run-dir", tmp_path / "run", cwd=ROOT)
    assert done.returncode != 0
    assert re.search(r"error: rank 1 on \S+ \(process \d+\) died", done.stdout + done.stderr)
    assert checkpoint.load(tmp_path / "run")[0]["progress"]["generation"] == 2


def test_a_run_that_had_finished_says_so(finished, capfd):
    assert train.main(SerialComm(), ["--resume", str(finished), "--console", "lines"]) == 0
    assert "already finished; to continue it, give a larger --max-iter" in " ".join(
        capfd.readouterr().out.split()
    )


def test_a_run_that_a_smaller_max_iter_ends_is_marked_finished(finished, tmp_path):
    run = Path(shutil.copytree(finished, tmp_path / "run"))
    content = checkpoint.load(run)[0]
    content["config"]["max_iter"] = 100
    checkpoint.save(run, content | {"life": stamp("stopped by a signal")})
    again = ["--resume", str(run), "--max-iter", "2"]
    assert train.main(SerialComm(), again) == 0
    assert is_finished(run)
    before = checkpoint.fingerprint(run)
    assert train.main(SerialComm(), again) == 0
    assert checkpoint.fingerprint(run) == before


def test_a_damaged_file_of_a_finished_run_is_replaced_with_a_warning(finished, tmp_path, capfd):
    run = Path(shutil.copytree(finished, tmp_path / "run"))
    (run / checkpoint.NAME).write_bytes(b"mpi_es damaged")
    assert train.main(SerialComm(), ["--resume", str(run), "--max-iter", "2"]) == 0
    assert capfd.readouterr().err.startswith("warning: ")
    assert [checkpoint.load(run)[1], is_finished(run)] == ["", True]


def test_a_locked_directory_ends_all_ranks(finished):
    with locked(finished):
        line = refused(2, "-m", "pbt.train", "--resume", finished, "--max-iter", 3)
    assert "another job is running this run" in line


@pytest.mark.parametrize(
    ("directory", "complaint"),
    [
        ("/proc/run", "cannot create"),
        ("/sys/kernel", "cannot write /sys/kernel/config.toml (Permission denied)"),
    ],
)
def test_a_directory_that_cannot_be_used_ends_the_run_before_the_work(directory, complaint):
    line = refused(2, "-m", "pbt.train", "toy", *TRAIN[2:5], "--run-dir", directory)
    assert f"--run-dir: {complaint}" in line


def test_a_member_that_cannot_be_closed_is_a_warning(launch, tmp_path):
    options = ("--member", "tests.pbt.user_members:Stuck", "--num-agents", 2, "--max-iter", 2)
    done = launch(2, "-m", "pbt.train", *options, "--run-dir", tmp_path / "run", "--console", "silent")
    again = launch(0, "-m", "pbt.evaluate", tmp_path / "run", "--episodes", 3)
    for process in (done, again):
        assert process.returncode == 0
        assert "cannot be closed: OSError: stuck" in process.stderr


def test_a_member_that_ignores_its_hyperparameters_ends_all_ranks_of_its_group(launch, tmp_path):
    arguments = ("--member", WALKERS + "Together", "--ranks-per-member", 2, "--run-dir", tmp_path / "run")
    done = launch(2, *TRAIN, *arguments, cwd=ROOT)
    assert done.returncode == 2
    assert "in the learner, as the population set it" in done.stderr


def test_a_state_that_no_member_has_ends_all_ranks(finished, launch, tmp_path):
    content, _ = checkpoint.load(finished)
    content["members"]["0000"]["theta"] = np.array([2**63], np.uint64)
    checkpoint.save(tmp_path, content)
    done = launch(2, "-m", "pbt.train", "--resume", tmp_path, "--max-iter", 4)
    assert done.returncode == 2
    assert "theta" in done.stderr


def test_a_run_that_a_callback_ended_stays_as_it_is(trained, tmp_path):
    options = ("toy", "--max-iter", 9, "--callback", "tests.telemetry.callbacks:Stopping", "--continue")
    for _ in range(2):
        assert trained(tmp_path / "run", *options)["progress"]["generation"] == 2
