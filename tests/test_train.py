from mpi_es import train
from mpi_es.config.presets import PRESETS
from mpi_es.config.run import Config


def test_without_preset_and_environment_it_is_the_paper_s_run(tmp_path):
    plan = train.prepare(["--seed", "5", "--run-dir", str(tmp_path)])
    assert plan.config == Config(**{**vars(PRESETS["carracing"]), "seed": 5, "run_dir": str(tmp_path)})
    assert train.prepare(["--env-id=CartPole-v1", "--run-dir", str(tmp_path)]).config.policy == "mlp"
    assert train.prepare(["--verbose", "--run-dir", str(tmp_path)]).config.console == "lines"
