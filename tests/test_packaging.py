import os
import re
import shutil
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from mpi_es import __version__
from mpi_es.__main__ import COMMANDS
from tests.launching import MPIEXEC, ROOT, call

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OPTIONAL = PROJECT["optional-dependencies"]


def plain(requirement: str) -> str:
    return re.split(r"[\[<>=]", requirement)[0].lower().replace("-", "_")


def test_environment_yml_has_the_ranges_of_pyproject():
    text = (ROOT / "environment.yml").read_text()
    lines = re.findall(r"^ +- (\S+[<>=]\S+)$", text, re.MULTILINE)
    ranges = {plain(line): line for line in PROJECT["dependencies"] + OPTIONAL["mpich"]}
    python = f"python{PROJECT['requires-python']},<3.15"  # as far as the packages of `all` have wheels
    assert set(lines) == {ranges["mpi4py"], ranges["mpich"], python}
    assert "- --editable .[all]\n" in text


def test_all_are_the_extras_of_users_but_an_mpi():
    (all_of_them,) = OPTIONAL["all"]
    named = set(re.findall(r"\w+", all_of_them)) - {"mpi_es"}
    assert named == OPTIONAL.keys() - {"all", "bench", "dev", "docs", "mpich"}


def test_the_lock_pins_every_dependency():
    lock = (ROOT / "requirements.lock").read_text().splitlines()
    pinned = {plain(line) for line in lock if "==" in line}
    groups = [PROJECT["dependencies"], *OPTIONAL.values()]
    assert {plain(requirement) for group in groups for requirement in group} <= pinned | {"mpi_es"}


def test_the_packages_import_without_mpi_and_without_torch():
    slow = {"mpi4py", "torch", "cma", "tensorboard", "rich", "stable_baselines3", "matplotlib"}
    ours = "mpi_es.train, mpi_es.evaluate, pbt.train, pbt.replay"
    code = f"import sys, {ours}; print({slow} & set(sys.modules))"
    assert run(sys.executable, "-c", code).strip() == "set()"


def test_the_version_is_told_once_more_by_pyproject_and_by_the_citation():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert PROJECT["version"] == __version__
    assert f"\nversion: {__version__}\n" in citation


def run(*words, **options):
    """Return what a command prints; it must succeed."""
    done = call(*words, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel that is built from the source distribution."""
    place = tmp_path_factory.mktemp("build")
    hidden = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "runs", "build", "docs", "benchmarks")
    shutil.copytree(ROOT, place / "source", ignore=hidden)
    build = f"from setuptools.build_meta import build_sdist; build_sdist({str(place)!r})"
    run(sys.executable, "-c", build, cwd=place / "source")
    (sdist,) = place.glob("*.tar.gz")
    shutil.unpack_archive(sdist, place, filter="data")
    quiet = ("--quiet", "--no-deps", "--no-index", "--no-build-isolation")
    unpacked = place / sdist.name.removesuffix(".tar.gz")
    run(sys.executable, "-m", "pip", "wheel", *quiet, "--wheel-dir", place, unpacked)
    (built,) = place.glob("*.whl")
    return built


@pytest.mark.slow
def test_the_wheel_holds_every_module_the_template_and_the_types(wheel):
    held = set(zipfile.ZipFile(wheel).namelist())
    for package in ("mpi_es", "pbt"):
        files = [*(ROOT / package).rglob("*.py"), *(ROOT / package).rglob("*.j2")]
        ours = {str(path.relative_to(ROOT)) for path in files}
        assert ours | {f"{package}/py.typed"} <= held
    assert not [name for name in held if name.startswith(("tests", "benchmarks", "examples"))]


@pytest.mark.slow
def test_the_wheel_is_installed_and_trains(wheel, tmp_path):
    own = tmp_path / "venv"
    venv.create(own)
    python, script = own / "bin/python", own / "bin/mpi-es"
    options = ("--quiet", "--no-deps", "--no-index", "--ignore-installed")
    run(sys.executable, "-m", "pip", "--python", python, "install", *options, wheel)
    paths = {"base": str(own), "platbase": str(own)}
    site = Path(sysconfig.get_path("purelib", "venv", vars=paths))
    (site / "ours.pth").write_text(sysconfig.get_path("purelib"))  # what it needs is there
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    # mpi4py looks for an MPI below the prefix, which is another one here.
    there = {"cwd": tmp_path, "env": environ | {"LD_LIBRARY_PATH": f"{sys.prefix}/lib"}}
    found = run(python, "-c", "import mpi_es; print(mpi_es.__file__)", **there)
    assert Path(found.strip()).is_relative_to(own)
    assert run(script, "--version", **there) == f"mpi_es {__version__}\n"
    assert all(command.line in run(python, "-m", "mpi_es", **there) for command in COMMANDS.values())
    few = ("--max-iter", 1, "--population-size", 4, "--num-eval-rollouts", 2, "--no-tensorboard")
    for launcher, seed in (((), 1143), ((MPIEXEC, "-n", 2), 7)):
        words = (*launcher, script, "train", "cartpole", "--seed", seed, *few)
        assert "generation 1: last generation done" in run(*words, **there)
        assert (tmp_path / f"runs/cartpole-{seed}/run.h5").exists()
