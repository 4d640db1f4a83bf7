import h5py
import numpy as np
import pytest

from mpi_es import evaluate, export, report, status, train
from mpi_es.run_file import checkpoint
from tests.run_file import bases
from tests.run_file.forgeries import assert_refused_or_read, changed, ends_in_one_line_or_works, is_read


@pytest.mark.parametrize("base", ["full", "openai_es", "restarts", "constraints"])
def test_a_real_run_is_read(tmp_path, images, base):
    assert is_read(tmp_path, images(base), checkpoint.load) == (True, "")


def test_a_forged_file_is_refused_in_one_line_or_read(tmp_path, images):
    assert_refused_or_read(tmp_path, images("full"), checkpoint.load)


@pytest.mark.parametrize(
    ("path", "attribute", "value", "why"),
    [
        ("config", "cma_variant", "x", "/config: --cma-variant: expected one of"),
        ("config", "init_sigma", -1.0, "/config: --init-sigma: expected"),
        ("config", "hidden", 3, "/config: --hidden: expected whole numbers, or nothing"),
        ("config", "colour", 1, "/config: expected fields of Config"),
        ("best", "fitness", "x", "/best/fitness: expected a number in"),
        ("best", "generation", 99, "/best/generation: expected a whole"),
        ("last", "generation", 1, "/last/generation: expected 3, got 1"),
        ("progress", "generation", 2**62, "/last/generation: expected 4611686018427387904, got 3"),
        ("progress", "episode_cap", -1, "/progress/episode_cap: expected a whole number"),
        ("life", "saved", float("nan"), "/life/saved: expected a number in"),
        ("history/mean", "", None, "/history/mean: expected a value, got none"),
        ("timing/total", "", np.array([-1.0, 1.0, 1.0]), "/timing/total: expected numbers in"),
        ("history/generation", "", np.array([9, 2, 3]), "/history/generation: expected the"),
        ("evaluations/returns", "", np.full((2, 2), np.nan), "/evaluations/returns: expected finite"),
        ("last/candidate", "", np.full(30, np.inf, np.float32), "/last/candidate: expected finite"),
        ("more/less", "", 1, "/more: expected nothing of this name"),
        ("history/more", "", h5py.SoftLink("/history/mean"), "/history/more is a link to another place"),
        ("/".join("g" * 40), "", 1, "more than 32 groups are nested"),
        ("/", "version", "two", "it has two different versions"),
        ("/", "version", None, "it has two different versions"),
    ],
)
def test_what_is_expected_where_is_said(tmp_path, images, path, attribute, value, why):
    _, said = is_read(tmp_path, changed(images("full"), (path, attribute, value)), checkpoint.load)
    assert said.startswith(f"{tmp_path / 'run.h5'}: damaged, or not a run file: {why}"), said


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        ("constraints", None, "/constraints: expected a group, got none"),
        ("constraints/feasible", np.zeros(3, np.int64), "/constraints/feasible: expected int64 (4)"),
        ("constraints/of_best", np.zeros(2), "/constraints/of_best: expected float64 (1)"),
        ("constraints/more", 1, "/constraints/more: expected nothing of this name"),
    ],
)
def test_what_is_expected_of_constraints_is_said(tmp_path, images, path, value, why):
    _, said = is_read(tmp_path, changed(images("constraints"), (path, "", value)), checkpoint.load)
    assert said.startswith(f"{tmp_path / 'run.h5'}: damaged, or not a run file: {why}"), said


@pytest.mark.parametrize("name", ["lam", "recent", "ready"])
def test_a_forged_lagrangian_ends_a_resume_in_one_line(tmp_path, images, name):
    edit = (f"constraints/lagrangian/{name}", "", np.zeros((2, 2)))
    (tmp_path / "run.h5").write_bytes(changed(images("constraints"), edit))
    ends_in_one_line_or_works(*COMMANDS["resume"], tmp_path)


def test_for_a_forged_file_the_one_before_is_read(tmp_path, images):
    (tmp_path / "run.h5").write_bytes(changed(images("full"), ("last/candidate", "", None)))
    (tmp_path / "run.previous.h5").write_bytes(images("full"))
    content, warning = checkpoint.load(tmp_path)
    assert content["progress"]["generation"] == 3
    assert "/last/candidate: expected an array (any), got None; using run.previous.h5" in warning


def test_the_status_of_runs_has_a_line_for_a_forged_one_and_prints_nothing_that_a_terminal_would_obey(
    tmp_path, images, capsys
):
    forged = {"good": ("life", "reason", "\x1b]0;owned\x07"), "bad": ("progress", "", None)}
    for name, edit in forged.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.h5").write_bytes(changed(images("full"), edit))
    assert status.main([str(tmp_path / "bad"), str(tmp_path / "good")]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith(f"error: {tmp_path / 'bad'}")
    assert (printed.err.count("\n"), printed.out.count("\n")) == (1, 2)
    assert "?]0;owned?" in printed.out


BEGIN = ["cartpole", "--hidden", "4", "--max-iter", "1", "--num-eval-rollouts", "1", *bases.QUIET]
COMMANDS = {
    "evaluate": (evaluate, ["{run}", "--episodes", "2"]),
    "evaluate the file": (evaluate, ["--from-pretrained", "{run}/run.h5", "--episodes", "2"]),
    "report": (report, ["{run}", "--out", "{run}/new"]),
    "export": (export, ["{run}", "--out", "{run}/new.npz"]),
    "resume": (train, ["--resume", "{run}", "--max-iter", "5", *bases.QUIET]),
    "pretrained": (train, [*BEGIN, "--from-pretrained", "{run}", "--run-dir", "{run}/new"]),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("edit", [("state/values/mean", "", np.zeros((7, 2))), ("config", "hidden", (5,))])
def test_a_command_ends_with_one_line_or_does_its_work(tmp_path, images, command, edit):
    (tmp_path / "run.h5").write_bytes(changed(images("full"), edit))
    ends_in_one_line_or_works(*COMMANDS[command], tmp_path)
