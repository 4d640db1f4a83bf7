import re

import pytest

from mpi_es import train
from mpi_es.config.presets import PRESETS
from mpi_es.config.run import Config
from mpi_es.errors import UserError
from mpi_es.parallel.collectives import SerialComm
from mpi_es.run_file import checkpoint


def test_without_preset_and_environment_it_is_the_paper_s_run(tmp_path):
    plan = train.prepare(["--seed", "5", "--run-dir", str(tmp_path)])
    assert plan.config == Config(**{**vars(PRESETS["carracing"]), "seed": 5, "run_dir": str(tmp_path)})
    assert train.prepare(["--env-id=CartPole-v1", "--run-dir", str(tmp_path)]).config.policy == "mlp"
    assert train.prepare(["--verbose", "--run-dir", str(tmp_path)]).config.console == "lines"


@pytest.mark.parametrize(
    ("env", "limit", "told"),
    [
        ("Ant-v5", 1000, ""),
        ("pack.age:make", 0, ""),
        ("Ant-v5", 0, "Ant-v5 has no step limit, .*-cap"),
    ],
)
def test_an_environment_without_a_limit_is_told(env, limit, told):
    assert re.match(told, train.endless(env, limit))
    assert bool(train.endless(env, limit)) == bool(told)


def test_a_run_begins_and_goes_on_only_where_it_is_asked_to(tmp_path):
    options = ["--env", "CartPole-v1", "--hidden", "2", "--population-size", "4", "--max-iter", "2"]
    options += ["--num-eval-rollouts", "2", "--console", "silent", "--no-tensorboard"]
    options += ["--run-dir", str(tmp_path / "run")]
    assert train.main(SerialComm(), options) == 0
    assert checkpoint.load(tmp_path / "run")[0]["progress"]["generation"] == 2
    with pytest.raises(UserError, match="holds a run already; continue it with --resume"):
        train.prepare(options)
    assert train.main(SerialComm(), [*options, "--continue", "--max-iter", "3"]) == 0
    assert checkpoint.load(tmp_path / "run")[0]["progress"]["generation"] == 3
