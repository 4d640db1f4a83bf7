import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def plain(requirement: str) -> str:
    return re.split(r"[\[<>=]", requirement)[0].lower().replace("-", "_")


def test_environment_yml_has_the_ranges_of_pyproject():
    lines = re.findall(r"^ +- (\S+[<>=]\S+)$", (ROOT / "environment.yml").read_text(), re.MULTILINE)
    wanted = {*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["mpich"]}
    assert set(lines) == {*wanted, f"python{PROJECT['requires-python']}"}


def test_the_lock_pins_every_dependency():
    lock = (ROOT / "requirements.lock").read_text().splitlines()
    pinned = {plain(line) for line in lock if "==" in line}
    groups = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    assert {plain(requirement) for group in groups for requirement in group} <= pinned


def test_the_packages_import_without_mpi_and_without_torch():
    slow = {"mpi4py", "torch", "cma", "tensorboard", "rich", "stable_baselines3", "matplotlib"}
    ours = "mpi_es.train, mpi_es.evaluate, pbt.train, pbt.replay"
    code = f"import sys, {ours}; print({slow} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "set()"
