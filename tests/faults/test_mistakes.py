"""A user's mistake is one line, told before any work."""

import os
import shutil
import socket
from pathlib import Path

import pytest

from mpi_es import evaluate, train
from mpi_es.errors import UserError
from mpi_es.evaluation.build import make_evaluator
from mpi_es.parallel.collectives import SerialComm
from mpi_es.parallel.stop_signal import StopFlag
from mpi_es.run_file import checkpoint
from mpi_es.run_file.lock import locked
from mpi_es.run_file.run_status import stamp
from mpi_es.status import is_finished
from tests.launching import LIMIT, apart_from_compiling, refused, run_here, start

CARTPOLE = ("--env", "CartPole-v1")
TRAIN = ("-m", "mpi_es.train", *CARTPOLE, "--no-tensorboard")

MISTAKES = [
    ("--env CartPol-v1", r"--env: expected a gymnasium id .*'CartPol-v1'; did you mean 'CartPole-v1'\?"),
    ("--env LunarLander-v2", r"no -v2: use 'LunarLander-v3'"),
    ("--env nosuch:make", r"--env: expected a module that can be imported, got 'nosuch'"),
    ("--env tests.faults.exits:make", r"--env: importing tests.faults.exits failed: SystemExit: set MY_SIM"),
    ("--env tests.faults.broken_envs:leaving", r"--env: .*:leaving ends the program: SystemExit: set MY_SIM"),
    ("--policy mpl", r"--policy: expected one of .*did you mean 'mlp'\?"),
    ("--callback json:JSONDecoder", "--callback json:JSONDecoder: expected a class with a method generation"),
    ("--policy json:Nothing", r"--policy json: .*Nothing"),
    ("--polcy mlp", r"--polcy: no option has this name; did you mean --policy\?"),
    ("--population-size x", "--population-size: expected whole number ≥ 1, got 'x'"),
    ("--population-size 0", r"--population-size: expected a number ≥ 1, got 0"),
    ("--cma-variant fulll", "--cma-variant: expected one of auto, .* got 'fulll'; did you mean 'full'"),
    ("--strategy cmaes", r"--strategy: expected one of cma_es, cr_fm_nes, ga, .*, pepg, snes, got 'cmaes'"),
    ("--seed=-3", r"--seed: expected a number ≥ 0, got -3"),
    ("--strategy pepg --momentum 1", r"--momentum: expected a number in \[0, 1\), got 1.0"),
    ("--strategy pepg --lr-min 1", r"--lr-min: expected at most --learning-rate 0.01, got 1.0"),
    ("--max-iter 99999999999999999999", r"--max-iter: expected a number below 2\*\*63, got"),
    ("--hidden 0", r"--hidden: expected widths above 0"),
    ("lunarlander --from-pretrained x", r"--from-pretrained: .* it does not exist or cannot be read"),
    ("cartpol", r"preset: expected one of .*did you mean 'cartpole'\?"),
    ("--env Pendulum-v1 --output argmax", r"--output: expected auto, tanh or clip"),
    ("--env CartPole-v1 --output tanh", r"--output: expected"),
    ("--env CartPole-v1 --action-noise 1", r"--action-noise: expected 0 for discrete actions"),
    ("--env CartPole-v1 --policy lstm --hidden 4 4", r"--hidden: expected one width for --policy lstm"),
    ("--num-workers 32", r"--num-workers: expected mpiexec -n N before the command"),
    ("--evolve controller", r"--base-from-pretrained: expected a run or an npz file with the attention"),
    ("--evolve contoller", r"--evolve: expected one of .*did you mean 'controller'\?"),
    ("--base-from-pretrained x", r"--base-from-pretrained: expected no file, since --evolve all fixes"),
    ("--cma-variant vd --sigma-rule csa", r"--sigma-rule: expected auto with --cma-variant vd, got 'csa'"),
    ("--num-frames 2", r"--num-frames: expected 1 with a recurrent controller, got 2"),
    ("--patch-size 97", r"--patch-size: expected at most 96, the picture's size, got 97"),
    ("--top-k 530", r"--top-k: expected at most 529, the number of patches, got 530"),
    ("--resume /nowhere", r"run: expected a directory that holds run.h5, got '/nowhere'"),
    ("--resume", r"--resume: expected a value, got nothing"),
]


@pytest.mark.parametrize(("arguments", "complaint"), MISTAKES)
def test_a_mistake_on_the_command_line(arguments, complaint):
    with pytest.raises(UserError, match=complaint) as caught:
        train.prepare(arguments.split())
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("--population-size 3", "--population-size: expected"),
        ("--run-dir /proc/run", "--run-dir: cannot create"),
        ("--run-dir /sys/kernel", "--run-dir: cannot write /sys/kernel/config.toml (Permission denied)"),
    ],
)
def test_a_mistake_that_is_found_later_ends_all_ranks(tmp_path, arguments, complaint):
    line = refused(2, *TRAIN, "--run-dir", tmp_path / "run", *arguments.split(), "--console", "silent")
    assert line.startswith(f"error: {complaint}")


@pytest.mark.parametrize("of_file", [False, True])
def test_an_option_without_effect_is_reported_once_before_the_run(launch, tmp_path, of_file):
    given = ["--layout", "paper"]
    if of_file:
        file = tmp_path / "my.toml"
        file.write_text('layout = "paper"')
        given = ["--config", file]
    done = launch(2, *TRAIN, *given, "--run-dir", "/proc/run")
    warning, error = done.stderr.splitlines()
    assert warning == "warning: no effect without --from-pretrained or --base-from-pretrained: --layout"
    assert error.startswith("error: --run-dir: cannot create")


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """The directory of a run of one generation."""
    directory = tmp_path_factory.mktemp("finished") / "run"
    arguments = ("cartpole", "--max-iter", 1, "--num-eval-rollouts", 3, "--console", "silent")
    run_here(train, *arguments, "--no-tensorboard", "--run-dir", directory)
    return directory


@pytest.fixture
def finished(original, tmp_path):
    """The directory of a copy of that run."""
    return Path(shutil.copytree(original, tmp_path / "run"))


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("--resume {run} --init-sigma 3", r"--init-sigma: expected 0\.3, with which the run began, got 3\.0"),
        ("--resume {run} --run-dir other", r"--run-dir: expected .*, with which the run began, got 'other'"),
        ("--resume {run} cartpole", r"--resume RUN: expected options only, got 'cartpole'$"),
        ("--resume {run}/run.previous.h5", r"run: expected a directory that .*previous.h5'; use .*, copy it"),
        (
            "--continue cartpole --run-dir {run} --seed 8",
            "--seed: expected 1143, with which the run began, got 8",
        ),
    ],
)
def test_a_run_is_continued_as_it_began_or_not_at_all(finished, arguments, complaint):
    shutil.copy(finished / "run.h5", finished / "run.previous.h5")
    with pytest.raises(UserError, match=complaint):
        train.prepare(arguments.format(run=finished).split())


def test_a_run_that_another_job_is_running(finished):
    with locked(finished):
        line = refused(2, "-m", "mpi_es.train", "--resume", finished)
    assert f"another job is running this run (host {socket.gethostname()}, process {os.getpid()})" in line


def test_a_lock_that_names_no_process_is_refused_all_the_same(finished):
    with locked(finished):
        (finished / ".lock").write_bytes(b"\xff")
        refusal = pytest.raises(UserError, match=r"another job is running this run$")
        with refusal, locked(finished):
            pass


def test_a_lock_names_its_slurm_job(finished, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "77")
    with locked(finished):
        assert (finished / ".lock").read_text().endswith(f"process {os.getpid()}, Slurm job 77\n")


def test_the_file_of_a_run_stands_for_its_directory(finished):
    plan = train.prepare(["--resume", str(finished / "run.h5")])
    assert (plan.directory, plan.config.run_dir) == (finished, str(finished))
    assert evaluate.prepare([str(finished / "run.h5")]).config.env == "mpi_es/CartPole-v1"


@pytest.mark.parametrize("stored", [True, False])
def test_a_run_that_another_job_saved_meanwhile(finished, tmp_path, stored):
    directory, content = tmp_path / "shared", checkpoint.load(finished)[0]
    if stored:
        shutil.copytree(finished, directory)
    words = ("--continue", "cartpole", "--max-iter", "9", "--no-tensorboard", "--console", "silent")
    plan = train.prepare([*words, "--run-dir", str(directory)])
    evaluator = make_evaluator(SerialComm(), plan.config, StopFlag())
    directory.mkdir(exist_ok=True)
    checkpoint.save(directory, content)
    with pytest.raises(UserError, match="another job has saved a run here since this one started"):
        train.train(plan, evaluator, "")
    assert checkpoint.load(directory)[0]["progress"]["generation"] == 1


def test_a_finished_run_says_so_and_exits_with_0(finished, capsys):
    before = checkpoint.fingerprint(finished)
    run_here(train, "--resume", finished, "--console", "lines")
    assert "generation 1: last generation done" in capsys.readouterr().out
    assert checkpoint.fingerprint(finished) == before


def test_a_run_that_is_over_by_a_new_end_is_marked_finished(finished):
    content = checkpoint.load(finished)[0]
    content["config"]["max_iter"] = 100
    checkpoint.save(finished, content | {"life": stamp("stopped by SIGTERM")})
    assert not is_finished(finished)
    run_here(train, "--resume", finished, "--max-iter", 1)
    assert is_finished(finished)


def test_a_damaged_file_of_a_finished_run_is_reported_and_replaced(finished, capfd):
    path = finished / checkpoint.NAME
    shutil.copy(path, finished / checkpoint.PREVIOUS)
    path.write_bytes(path.read_bytes()[:3000])
    run_here(train, "--resume", finished)
    (warning,) = capfd.readouterr().err.splitlines()
    assert warning.startswith(f"warning: {path}: damaged")
    assert checkpoint.decode(path)["progress"]["generation"] == 1
    assert is_finished(finished)


def test_a_log_that_cannot_be_written_is_reported(tmp_path):
    with open("/dev/full", "w") as full:
        process = start(0, *TRAIN, "--run-dir", tmp_path / "run", stdout=full)
    err = apart_from_compiling(process.communicate(timeout=LIMIT)[1])
    assert err.startswith("error: --console: cannot write (No space left")
    assert process.returncode == 2


def test_worlds_of_one_are_reported_at_the_start():
    # What Open MPI's mpiexec sets; its ranks then find themselves alone under another MPI.
    environ = os.environ | {"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "0"}
    line = refused(0, "-m", "mpi_es.train", env=environ)
    assert "MPI: expected one world of the 4 ranks that mpiexec of Open MPI started" in line
    assert "start it with" in line


def test_help_is_printed_once(launch):
    done = launch(3, "-m", "mpi_es.train", "--help")
    assert (done.returncode, done.stdout.count("usage:"), done.stderr) == (0, 1, "")
