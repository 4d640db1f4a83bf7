import importlib.util
from pathlib import Path

import pytest

from mpi_es import load_run, train
from mpi_es.config.parts import every
from mpi_es.config.presets import MINUTES, PRESETS, preset
from mpi_es.config.run import Config
from mpi_es.parallel.collectives import SerialComm

NEEDS = {
    "envpool": "envpool",
    "ALE/": "ale_py",
    "mpi_es.papers.atari_frames": "ale_py",
    "mpi_es/TakeCover": "vizdoom",
}
SMALL = (
    "--population-size 4 --max-iter 1 --num-rollouts 1 --num-eval-rollouts 1 --episode-cap 9 --early-stop 0"
)
PARTS = [name for name in PRESETS if preset(name).evolve != "all"]
AGENT = str(Path(__file__).parents[2] / "docs" / "carracing" / "snes.npz")


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_a_run_that_ends(name):
    config = preset(name)
    assert config.max_iter < 10_000
    assert config.target_fitness is not None or config.env == "mpi_es/CarRacing-v3"


def test_presets_have_no_options_but_those_of_a_run():
    known = {one.name for one in every(Config)}
    assert not {option for values in PRESETS.values() for option in values} - known


def test_presets_of_one_environment_have_directories_of_their_own():
    directories = [preset(name).directory for name in PRESETS]
    assert len(set(directories)) == len(PRESETS)


def test_presets_name_the_extra_that_has_their_packages():
    assert MINUTES.keys() <= PRESETS.keys()
    for config in map(preset, PRESETS):
        assert (config.extra == "envs") == config.env.startswith(tuple(NEEDS))


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_runs(name, tmp_path):
    for begin, package in NEEDS.items():
        if preset(name).env.startswith(begin) and not importlib.util.find_spec(package):
            pytest.skip(f"{package} is not installed")
    base = ("--base-from-pretrained", AGENT) if name in PARTS else ()
    quiet = ("--console", "silent", "--no-tensorboard", "--run-dir", str(tmp_path / "run"))
    words = [name, *SMALL.split(), *base, *quiet]
    assert train.main(SerialComm(), words) == 0
    run = load_run(tmp_path / "run")
    assert run["history"]["generation"].tolist() == [1]
    assert run["evaluations"]["returns"].shape == (1, 1)
