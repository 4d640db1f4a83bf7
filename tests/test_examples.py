"""The programs of examples/ run as their docstrings say, with a small budget added."""

import ast
import importlib.util
import os
import re
import shlex
import shutil
import sys

import pytest

import mpi_es
import pbt
from mpi_es import gest, load_run, worlds
from tests.launching import MPIEXEC, ROOT, call

PROGRAMS = sorted(path.name for path in (ROOT / "examples").glob("*.py"))
FEW = ["--max-iter", "2", "--population-size", "8", "--num-eval-rollouts", "2", "--no-tensorboard"]
BUDGETS = {
    "mpi_es.train": FEW,
    "pbt.train": ["--max-iter", "2", "--num-eval-rollouts", "2", "--no-tensorboard"],
    "mpi_es.evaluate": ["--episodes", "2"],
}
TRAINERS = {"ppo_from_scratch.py", "ppo_stable_baselines3.py"}  # of their own: the simulator alone is ours
BUDGETS |= {name: ["--steps", "64", "--cars", "2", "--rollout", "16"] for name in TRAINERS}

GENERATIONS = {
    "strategy.py": {3},
    "weights_and_biases.py": {3},
    "mlflow_tracking.py": {3},
    "function.py": {300},
    "external_program.py": {4},
}  # of its runs; a goal ends those of torch_function.py

TRACKERS = {"weights_and_biases.py": "wandb==0.31.0", "mlflow_tracking.py": "mlflow-skinny==3.17.2"}
LOCAL = {
    "WANDB_MODE": "offline",
    "MLFLOW_TRACKING_URI": "./mlruns",
    "MLFLOW_ALLOW_FILE_STORE": "true",
    "MLFLOW_DISABLE_TELEMETRY": "true",
}

each = pytest.mark.parametrize("name", PROGRAMS)


def read(name):
    return (ROOT / "examples" / name).read_text(encoding="utf-8")


def commands(name):
    """Return the commands of a program's docstring, in their order, with a small budget."""
    lines = re.findall(
        r"^    ((?:python|mpiexec) .*)$", ast.get_docstring(ast.parse(read(name))), re.MULTILINE
    )
    for words in map(shlex.split, lines):
        few = next((few for module, few in BUDGETS.items() if module in words), [])
        yield words + (["--max-iter", "3"] if "--resume" in words else few)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in TRACKERS])
def test_its_commands_run_as_written(name, tmp_path):
    if name == "read_run.py" and not importlib.util.find_spec("pandas"):
        pytest.skip("pandas is not installed")
    run_its_commands(name, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", TRACKERS)
def test_a_tracker_s_commands_run_as_written(name, tmp_path):
    """Their packages bring 42 others, which no other test needs."""
    packages = ["--target", str(tmp_path / "site"), "--constraint", str(ROOT / "requirements.lock")]
    install = [sys.executable, "-m", "pip", "install", "--quiet", *packages, TRACKERS[name]]
    call(*install, check=True)
    run_its_commands(name, tmp_path, str(tmp_path / "site"), **LOCAL)
    logged = list(tmp_path.glob("runs/*/wandb/offline-run-*" if "weights" in name else "mlruns/*/*/metrics"))
    assert len(logged) == (2 if "weights" in name else 1)  # MLflow's run goes on where it was


def run_its_commands(name, tmp_path, *paths, **variables):
    """Run the commands of a program's docstring where it lies alone, and look at their runs."""
    shutil.copy(ROOT / "examples" / name, tmp_path)
    path = os.pathsep.join([str(ROOT), *paths, os.environ.get("PYTHONPATH", "")])
    activated = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    environ = os.environ | {"PYTHONPATH": path, "PATH": activated} | variables
    own = {"python": sys.executable, "mpiexec": str(MPIEXEC)}
    for words in commands(name):
        done = call(*(own.get(word, word) for word in words), cwd=tmp_path, env=environ)
        assert done.returncode == 0, done.stdout + done.stderr
    if name in TRAINERS:
        assert list(tmp_path.glob("ppo_car_racing.*"))
        return
    if name == "libensemble_search.py":
        assert done.stdout.startswith("960 calls, 60 generations\n")
        assert float(done.stdout.split()[-1]) < 1e-9
        return
    runs = [load_run(run) for run in (tmp_path / "runs").iterdir()]
    if name == "torch_function.py":
        assert {run["life"]["reason"] for run in runs} == {"target of 0.001 reached"}
    else:
        assert {run["progress"]["generation"] for run in runs} == GENERATIONS.get(name, {2})


@each
def test_it_imports_public_names_only(name):
    public = {module.__name__: set(module.__all__) for module in (mpi_es, gest, worlds, pbt)}
    for node in ast.walk(ast.parse(read(name))):
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] in ("mpi_es", "pbt"):
            assert {alias.name for alias in node.names} <= public[node.module]
        if isinstance(node, ast.Import):
            assert not [alias.name for alias in node.names if alias.name.startswith(("mpi_es.", "pbt."))]


@each
def test_it_is_a_short_program_with_a_command(name):
    assert list(commands(name))
    assert 20 <= len(read(name).splitlines()) <= (150 if name in TRAINERS else 65)


def test_there_is_one_for_whatever_a_user_may_add():
    assert {"environment.py", "function.py", "member.py", "policy.py", "read_run.py", "strategy.py"} <= set(
        PROGRAMS
    )
