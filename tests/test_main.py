"""All commands under one name."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mpi_es import __version__
from mpi_es.__main__ import COMMANDS
from tests.launching import LIMIT, exact_content

ROOT = Path(__file__).parents[1]
SLOW = ("numpy", "mpi4py", "torch", "numba", "gymnasium", "mpi_es.train", "pbt")
SCRIPT = "import sys\nfrom mpi_es.__main__ import script\nsys.exit(script())\n"  # as an installer writes it


def test_the_commands_are_listed(launch):
    done = launch(0, "-m", "mpi_es")
    assert (done.returncode, done.stderr) == (0, "")
    width = max(map(len, COMMANDS))
    for name, command in COMMANDS.items():
        assert f"  {name:<{width}}  {command.line}\n" in done.stdout
    assert launch(0, "-m", "mpi_es", "--help").stdout == done.stdout


def test_the_commands_of_pbt_are_listed(launch):
    listed = launch(0, "-m", "mpi_es", "pbt").stdout
    assert [line.split()[:2] for line in listed.splitlines() if line.startswith("  ")] == [
        ["pbt", "train"],
        ["pbt", "evaluate"],
        ["pbt", "report"],
        ["pbt", "replay"],
        ["pbt", "export"],
    ]


def test_listing_imports_nothing_that_takes_long():
    code = "import runpy, sys; sys.argv = ['mpi-es']\ntry: runpy.run_module('mpi_es', run_name='__main__')\n"
    code += f"except SystemExit: print({{*sys.modules}} & {{*{SLOW}}})"
    alone = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=alone, capture_output=True, text=True, check=True, timeout=LIMIT)
    assert done.stdout.splitlines()[-1] == "set()"


def test_the_version(launch):
    assert launch(0, "-m", "mpi_es", "--version").stdout == f"mpi_es {__version__}\n"


@pytest.mark.parametrize("ranks", [0, 2])
@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (
            ("trian",),
            "error: COMMAND: expected one of completion, .*, train, got 'trian'; did you mean 'train'",
        ),
        (("pbt", "repot"), "error: pbt COMMAND: expected one of evaluate, .*'repot'; did you mean 'report'"),
    ],
)
def test_an_unknown_command_is_one_line(launch, ranks, words, complaint):
    done = launch(ranks, "-m", "mpi_es", *words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert re.match(complaint, done.stderr)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_help(launch, name):
    done = launch(0, "-m", "mpi_es", *name.split(), "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_a_run_by_its_one_name_is_the_run_of_the_module(launch, tmp_path):
    few = ("cartpole", "--max-iter", 2, "--population-size", 6, "--num-eval-rollouts", 2, "--no-tensorboard")
    for place, words in (("one", ("mpi_es", "train")), ("other", ("mpi_es.train",))):
        done = launch(2, "-m", *words, *few, "--run-dir", tmp_path / place)
        assert (done.returncode, done.stderr) == (0, "")
    one, other = exact_content(tmp_path / "one"), exact_content(tmp_path / "other")
    assert one["last"]["candidate"].tobytes() == other["last"]["candidate"].tobytes()


def test_a_population_by_its_one_name(launch, tmp_path):
    words = ("pbt", "train", "toy", "--max-iter", 2, "--no-tensorboard", "--run-dir", tmp_path / "run")
    done = launch(2, "-m", "mpi_es", *words)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "run/run.h5").exists()


def test_the_console_script_finds_modules_in_the_working_directory(tmp_path):
    work, program = tmp_path / "work", tmp_path / "bin/mpi-es"
    work.mkdir()
    program.parent.mkdir()
    program.write_text(SCRIPT)
    (work / "my_env.py").write_text(
        "import gymnasium\ndef make():\n    raise gymnasium.error.Error('found')\n"
    )
    environ = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, program, "train", "--env", "my_env:make"]
    done = subprocess.run(command, cwd=work, env=environ, capture_output=True, text=True, timeout=LIMIT)
    assert "Error: found" in done.stderr


def test_every_command_is_a_module_that_can_be_run():
    for command in COMMANDS.values():
        path = ROOT / (command.module.replace(".", "/") + ".py")
        assert '__name__ == "__main__"' in path.read_text(encoding="utf-8")
