import os
import re
import sys
import tomllib

import pytest

from mpi_es.config import user_objects
from mpi_es.errors import UserError
from mpi_es.extras import EXTRA_OF, needed_for, needs
from tests.launching import MPIEXEC, ROOT, call

# Packages that are named otherwise than what they hold.
PACKAGES = {
    "Box2D": "gymnasium[box2d]",
    "PIL": "pillow",
    "cv2": "opencv-python-headless",
    "gymnasium": "gymnasium[box2d]",
    "pygame": "gymnasium[box2d]",
    "ale_py": "ale-py",
    "gest_api": "gest-api",
    "imageio_ffmpeg": "imageio-ffmpeg",
    "llvmlite": "numba",
    "sb3_contrib": "sb3-contrib",
    "stable_baselines3": "stable-baselines3",
}
# Python starts with this: it finds no module of those that ABSENT names, as where they are not installed.
HIDE = """
import os
from importlib.machinery import PathFinder
find, absent = PathFinder.find_spec, os.environ["ABSENT"].split()
PathFinder.find_spec = staticmethod(lambda name, *more: None if name in absent else find(name, *more))
"""
FUNCTION = """
import mpi_es

def sphere(x):
    return (x**2).sum()

if __name__ == "__main__":
    result = mpi_es.minimise(sphere, [1.0] * 3, 0.5, max_iter=20, run_dir="runs/sphere")
    search = mpi_es.Search([1.0] * 3, 0.5, minimise=True)
    search.tell([sphere(x) for x in search.ask()])
    assert mpi_es.load_run("runs/sphere")["best"]["fitness"] == -result.value
    print(len(search.best), result.feasible)
"""


@pytest.fixture
def light(tmp_path):
    """Return what a command prints, and its code, where only some packages are installed."""
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden/sitecustomize.py").write_text(HIDE)
    (tmp_path / "sphere.py").write_text(FUNCTION)

    def run(absent, *words):
        names = {"ABSENT": " ".join(absent), "PYTHONPATH": f"{tmp_path / 'hidden'}:{ROOT}"}
        done = call(*words, cwd=tmp_path, env=os.environ | names)
        return done.returncode, done.stdout, done.stderr

    return run


@pytest.mark.parametrize("module", EXTRA_OF)
def test_an_extra_installs_what_it_is_said_to(module):
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    required = [re.split("[<>=]", package)[0] for package in extras[EXTRA_OF[module]]]
    assert PACKAGES.get(module, module) in required


def test_what_is_missing_is_told_with_its_extra():
    assert needs("torch.nn") == "needs the package 'torch': pip install 'mpi_es[policies]'"
    assert needs("jax") == "needs the package 'jax': pip install it"
    line = "^--video needs the package 'PIL': pip install 'mpi_es"
    with pytest.raises(UserError, match=line), needed_for("--video"):
        raise ModuleNotFoundError("No module named 'PIL'", name="PIL.Image")
    with pytest.raises(ModuleNotFoundError), needed_for("--video"):
        raise ModuleNotFoundError("No module named 'mine'", name="mine")


@pytest.mark.parametrize(
    ("package", "env"),
    [("mujoco", "HalfCheetah-v5"), ("imageio", "HalfCheetah-v5"), ("Box2D", "CarRacing-v3")],
)
def test_what_an_environment_of_gymnasium_lacks_is_told_with_its_extra(light, package, env):
    code, _, err = light([package], sys.executable, "-m", "mpi_es.train", "--env", env, "--max-iter", 1)
    assert (code, err) == (2, f"error: --env: {env} cannot be made: it {needs(package)}\n")


def test_a_library_that_an_option_names_is_told_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)
    line = r"^--algorithm needs the package 'stable_baselines3': pip install 'mpi_es\[pbt\]'$"
    with pytest.raises(UserError, match=line):
        user_objects.load_module("--algorithm", "stable_baselines3")


def test_a_function_is_optimised_without_the_packages_of_the_extras(light):
    code, out, err = light(EXTRA_OF, sys.executable, "sphere.py")
    assert (code, err) == (0, "")
    assert out.endswith("\n3 True\n")
    assert "no TensorBoard events: --tensorboard needs the package 'tensorboard'" in " ".join(out.split())
    few = ("--function", "sphere:sphere", "--x0", 1, "--dim", 2, "--max-iter", 2, "--run-dir", "runs/two")
    code, out, err = light(EXTRA_OF, MPIEXEC, "-n", 2, sys.executable, "-m", "mpi_es.train", *few)
    assert (code, err) == (0, "")
    for words in (["mpi_es.status", "runs/sphere"], ["mpi_es.train", "--help"], ["pbt.train", "--help"]):
        assert light(EXTRA_OF, sys.executable, "-m", *words)[0] == 0


def test_the_doctor_needs_no_extra(light):
    code, out, err = light(EXTRA_OF, sys.executable, "-m", "mpi_es.doctor")
    assert (code, err) == (0, "")
    assert "0 failed" in out
    code, out, err = light(EXTRA_OF, sys.executable, "-m", "mpi_es.doctor", "--env", "CartPole-v1")
    assert (code, err) == (1, "")
    assert re.search(r"^fail environment +--env CartPole-v1 needs .* 'mpi_es\[sim\]'$", out, re.MULTILINE)


LACKING = [
    ("gymnasium", "mpi_es.train cartpole", "--env mpi_es/CartPole-v1", "sim"),
    ("numba", "mpi_es.train --env CartPole-v1", "--policy mlp", "sim"),
    ("torch", "mpi_es.train --env CartPole-v1 --policy torch.nn:Linear", "--policy", "policies"),
    ("gymnasium", "mpi_es.evaluate RUN", "--env mpi_es/CartPole-v1", "sim"),
    ("PIL", "mpi_es.evaluate RUN --video film.mp4", "--video", "report"),
    ("imageio_ffmpeg", "mpi_es.evaluate RUN --frames film", "--frames", "report"),
    ("matplotlib", "mpi_es.report RUN", "mpi_es.report", "report"),
    ("jinja2", "mpi_es.report RUN", "mpi_es.report", "report"),
    ("torch", "mpi_es.export RUN --torchscript agent.pt", "--torchscript", "policies"),
    ("gymnasium", "mpi_es.export RUN --out agent.npz", "--env mpi_es/CartPole-v1", "sim"),
    ("stable_baselines3", "pbt.train --member sb3 --env CartPole-v1", "--algorithm", "pbt"),
    ("gymnasium", "pbt.train --member es --env CartPole-v1", "--env CartPole-v1", "sim"),
    ("matplotlib", "pbt.report POPULATION", "pbt.report", "report"),
]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run and a population."""
    place = tmp_path_factory.mktemp("runs")
    few = ("--max-iter", 1, "--run-dir")
    small = ("--population-size", 4, "--num-eval-rollouts", 2, *few)
    there = {"cwd": place, "env": os.environ | {"PYTHONPATH": str(ROOT)}, "check": True}
    call(sys.executable, "-m", "mpi_es.train", "cartpole", *small, "RUN", **there)
    call(sys.executable, "-m", "pbt.train", "toy", *few, "POPULATION", **there)
    return place


@pytest.mark.parametrize(("package", "command", "what", "extra"), LACKING)
def test_a_command_that_lacks_a_package_is_one_line(light, runs, package, command, what, extra):
    names = {"RUN": runs / "RUN", "POPULATION": runs / "POPULATION"}
    words = [names.get(word, word) for word in command.split()]
    code, _, err = light([package], sys.executable, "-m", *words)
    assert (code, err) == (2, f"error: {what} {needs(package)}\n")
    assert f"mpi_es[{extra}]" in err


@pytest.mark.parametrize(
    ("package", "program", "what"),
    [
        ("numba", "from mpi_es.worlds import WorldEnv", "mpi_es.worlds.WorldEnv"),
        ("numba", "from mpi_es.worlds import numpy_random", "mpi_es.worlds.numpy_random"),
        ("gest_api", "import mpi_es.gest", "mpi_es.gest"),
    ],
)
def test_a_name_that_lacks_a_package_is_told_with_its_extra(light, package, program, what):
    code, _, err = light([package], sys.executable, "-c", program)
    assert code == 1
    assert err.endswith(f"\nModuleNotFoundError: {what} {needs(package)}\n")


def test_help_on_the_package_needs_no_extra(light):
    code, out, _ = light([*EXTRA_OF], sys.executable, "-c", "import mpi_es; help(mpi_es)")
    assert code == 0
    assert "\n    minimise(function" in out


@pytest.mark.parametrize("absent", [["mpi4py"], []])
def test_every_command_runs_on_one_rank_without_mpi(light, runs, absent, monkeypatch):
    monkeypatch.setenv("MPI4PY_LIBMPI", "/nowhere/libmpi.so")
    small = "--population-size 4 --num-eval-rollouts 2 --max-iter 1"
    for command in (
        f"mpi_es.train cartpole {small}",
        f"mpi_es.evaluate {runs / 'RUN'} --episodes 2",
        f"mpi_es.export {runs / 'RUN'} --out agent.npz",
        f"mpi_es.report {runs / 'RUN'} --out report",
        "pbt.train toy --max-iter 2",
    ):
        code, _, err = light(absent, sys.executable, "-m", *command.split())
        assert code == 0, err
    code, out, err = light(absent, sys.executable, "-m", "mpi_es.doctor")
    assert (code, err) == (0, "")
    assert out.startswith("warn MPI            mpi4py finds no MPI library; one process\n")


DRIVE = """
import sys
import gymnasium as gym
import mpi_es

car = gym.make("mpi_es/CarRacing-v3")
cars = gym.make_vec("mpi_es/CarRacing-v3", num_envs=2, threads=2)
for env in (car, cars):
    env.reset(seed=1)
    env.step(env.action_space.sample())
    env.close()
print("driven", sorted(set(sys.argv[1:]) & set(sys.modules)))
"""


def test_the_simulator_needs_gymnasium_numba_numpy_and_pygame_alone(light):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {re.split(r"[\[<>=]", requirement)[0] for requirement in project["dependencies"]}
    others = [*names - {"numpy"}, *(module for module, extra in EXTRA_OF.items() if extra != "sim"), "Box2D"]
    assert {"mpi4py", "torch"} < set(others)
    assert light(others, sys.executable, "-c", DRIVE, *others)[1] == "driven []\n"
