"""A part that evolves beside fixed ones: its run needs no file but its own."""

import numpy as np
import pytest

from mpi_es import evaluate, train
from mpi_es.errors import UserError
from mpi_es.run_file import checkpoint
from tests.launching import assert_same, run_here

DIM = 4 * 7 * (4 + 7 + 1 + 1) + 16
OPTIONS = (
    *("--console", "silent", "--no-tensorboard", "--env", "CartPole-v1"),
    *("--policy", "tests.policies.user_policies:Remembering", "--evolve", "out"),
    *("--population-size", 6, "--eval-every", 2, "--num-eval-rollouts", 4, "--base-from-pretrained"),
)


@pytest.fixture
def base(tmp_path):
    """A file with an agent, of which all but the last 16 numbers stay fixed."""
    path = tmp_path / "base.npz"
    np.savez(path, params=np.random.default_rng(0).standard_normal(DIM, np.float32))
    return path


@pytest.mark.parametrize("strategy", [pytest.param("cma_es", marks=pytest.mark.slow), "openai_es"])
def test_resumed_on_other_ranks_without_the_file_it_is_the_same_run(
    launch, exact, tmp_path, base, strategy, capsys
):
    options = (*OPTIONS, base, "--strategy", strategy)
    run_here(train, *options, "--max-iter", 4, "--run-dir", tmp_path / "unbroken")
    fixed = np.load(base)["params"][:-16]
    first = launch(2, "-m", "mpi_es.train", *options, "--max-iter", 2, "--run-dir", tmp_path / "broken")
    assert first.returncode == 0, first.stderr
    base.write_text("changed")
    run_here(train, "--resume", tmp_path / "broken", "--max-iter", 4)
    base.unlink()
    assert_same(exact(tmp_path / "broken"), exact(tmp_path / "unbroken"))
    content, _ = checkpoint.load(tmp_path / "broken")
    for kept in ("best", "last"):
        np.testing.assert_array_equal(content[kept]["candidate"][:-16], fixed)
    run_here(evaluate, tmp_path / "broken", "--episodes", 4)
    assert "bit-identical" in capsys.readouterr().out


def test_another_base_is_another_run(tmp_path, base, capfd):
    run_here(train, *OPTIONS, base, "--max-iter", 1, "--run-dir", tmp_path / "run")
    capfd.readouterr()
    with pytest.raises(UserError, match="--base-from-pretrained: expected "):
        train.prepare(["--resume", str(tmp_path / "run"), "--base-from-pretrained", "other.npz"])
    assert "names code, which is imported: " in capfd.readouterr().err
