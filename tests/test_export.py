"""What a run's agent is written to is the same agent, also without this package."""

import shutil

import numpy as np
import pytest

from mpi_es import export, train
from mpi_es.agents.load import content_of, load
from mpi_es.config.run import configured
from mpi_es.errors import UserError
from mpi_es.run_file import checkpoint
from tests.launching import run_here

SMALL = ("--population-size", 4, "--max-iter", 1, "--num-eval-rollouts", 2, "--console", "silent")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The directory of a run with normalised observations."""
    directory = tmp_path_factory.mktemp("export") / "run"
    options = ("--env", "Pendulum-v1", "--policy", "lstm", "--hidden", 4, "--obs-norm", "--no-tensorboard")
    run_here(train, *options, *SMALL, "--run-dir", directory)
    return directory


@pytest.mark.parametrize("layout", ["torch", "paper"])
@pytest.mark.parametrize("candidate", ["best", "last"])
def test_a_file_that_was_exported_holds_the_run_s_agent_to_the_bit(run, tmp_path, layout, candidate, capsys):
    path, copy = tmp_path / "agent", tmp_path / "copy.h5"
    shutil.copy(run / "run.h5", copy)
    source = {"best": run, "last": copy}[candidate]
    export.export([str(source), "--out", str(path), "--layout", layout, "--candidate", candidate])
    chosen = checkpoint.load(run)[0][candidate]
    agent = load(str(path), configured(), "--from-pretrained")
    assert (agent.config.policy.name, agent.config.policy.hidden) == ("lstm", (4,))
    assert agent.parameters.tobytes() == chosen["candidate"].tobytes()
    assert agent.normalisation.tobytes() == chosen["normalisation"].tobytes()
    same_order = np.array_equal(np.load(path)["params"], chosen["candidate"])
    assert same_order == (layout == "torch")
    assert f"parameters in {layout}'s order" in capsys.readouterr().out


def test_an_agent_in_a_file_is_exported_as_well(run, tmp_path):
    first, second = tmp_path / "first.npz", tmp_path / "second.npz"
    export.export([str(run), "--out", str(first), "--layout", "paper"])
    export.export([str(first), "--out", str(second)])
    one, other = np.load(first)["params"], np.load(second)["params"]
    assert other.tobytes() == checkpoint.load(run)[0]["best"]["candidate"].tobytes() != one.tobytes()


def test_a_bare_file_is_exported_by_what_is_reported_of_it(tmp_path):
    bare, out = tmp_path / "bare.npz", tmp_path / "out.npz"
    numbers = np.random.default_rng(0).standard_normal(1891, np.float32)
    np.savez(bare, params=numbers)
    told = ["--preset", "carracing-exp4", "--from-layout", "paper"]
    export.export([str(bare), *told, "--layout", "paper", "--out", str(out)])
    assert np.load(out)["params"].tobytes() == numbers.tobytes()
    with pytest.raises(UserError, match=r"--preset: .* no effect with a file that describes its agent"):
        export.export([str(out), *told, "--out", str(bare)])


def test_a_run_and_its_file_hold_the_same_agent(run):
    directory, file = (load(str(path), configured(), "--from-pretrained") for path in (run, run / "run.h5"))
    assert directory.parameters.tobytes() == file.parameters.tobytes()
    assert directory.normalisation.shape == (2, 3)


def test_a_run_begins_at_an_agent_that_normalises_and_with_its_normalisation(run, tmp_path):
    file = tmp_path / "agent.npz"
    export.export([str(run), "--out", str(file)])
    agent = load(str(run), configured(), "RUN")
    options = ["--env", "Pendulum-v1", "--policy", "lstm", "--hidden", "4", "--run-dir", str(tmp_path / "a")]
    for source in (run, file):
        plan = train.prepare([*options, "--obs-norm", "--from-pretrained", str(source)])
        assert plan.start.parameters.tobytes() == agent.parameters.tobytes()
        known = train.first_observations(plan, 3)
        np.testing.assert_allclose(known.normalisation, agent.normalisation, rtol=1e-5)
        assert known.count == agent.observed == content_of(run)["progress"]["observations"]["count"]
        with pytest.raises(UserError, match="expected an agent that observes 4 numbers, got 3"):
            train.first_observations(plan, 4)
    with pytest.raises(UserError, match="--obs-norm: expected on, as the agent of --from-pretrained was"):
        train.prepare([*options, "--from-pretrained", str(run)])
    options[2:6] = ["--policy", "tests.policies.user_policies:Remembering", "--evolve", "cell"]
    with pytest.raises(UserError, match="--obs-norm: expected off with --base-from-pretrained"):
        train.prepare([*options, "--obs-norm", "--base-from-pretrained", str(run)])
    with pytest.raises(
        UserError, match="--base-from-pretrained: expected an agent trained without --obs-norm"
    ):
        train.prepare([*options, "--base-from-pretrained", str(run)])


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("{run} --preset cartpole --out a", "--preset: .* no effect with a run"),
        ("{run}", "--out: expected a file, or --torchscript FILE, got nothing"),
        ("{run} --out agent --torchscript ./agent", "--torchscript: expected a file other than that"),
        ("{run} --out /dev/full", r"--out: cannot write /dev/full \(No space left"),
        ("{run} --torchscript /dev/full", r"--torchscript: cannot write /dev/full \(No space left"),
        ("{run} --out /nowhere/agent.npz", r"--out: cannot write /nowhere/agent.npz \(No such file"),
        ("{run} --torchscript /nowhere/agent.pt", "--torchscript: cannot write /nowhere/agent.pt"),
        ("{run} --torchscript a.pt --layout paper", "--layout: .* no effect with --torchscript alone"),
        ("{file} --candidate last --out agent.npz", "--candidate: .* no effect with an npz file"),
        ("/nowhere.npz --preset cartpole --out a", "RUN: expected a run or an npz file, got"),
        ("--out agent.npz", "RUN: expected the directory of a run"),
    ],
)
def test_a_mistake_is_reported(run, tmp_path, arguments, complaint):
    file = tmp_path / "agent.npz"
    file.touch()
    with pytest.raises(UserError, match=complaint):
        export.export(arguments.format(run=run, file=file).split())


@pytest.mark.parametrize("option", ["--out", "--torchscript"])
def test_a_run_is_not_written_over(run, option):
    before = (run / "run.h5").read_bytes()
    for source in (run, run / "run.h5"):
        with pytest.raises(UserError, match=f"{option}: expected a file other than RUN's"):
            export.export([str(source), option, str(run / "run.h5")])
    assert (run / "run.h5").read_bytes() == before
