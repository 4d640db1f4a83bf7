"""All commands under one name."""

import os
import re
import sys

from mpi_es import __version__
from mpi_es.__main__ import COMMANDS, main
from tests.launching import ROOT, call, exact_content, refused

SLOW = ("numpy", "mpi4py", "torch", "numba", "gymnasium", "mpi_es.train", "pbt")
SCRIPT = "import sys\nfrom mpi_es.__main__ import script\nsys.exit(script())\n"  # as an installer writes it
HELP = """
import runpy, sys
for command in sys.argv[1:]:
    sys.argv = ["mpi-es", *command.split(), "--help"]
    print("== ", end="")
    try:
        runpy.run_module("mpi_es", run_name="__main__")
    except SystemExit as end:
        assert not end.code
"""


def said(capsys, monkeypatch, *words):
    """Return the code of a command, and what it prints."""
    monkeypatch.setattr(sys, "argv", ["mpi-es", *words])
    return main(), *capsys.readouterr()


def test_the_commands_are_listed(capsys, monkeypatch):
    code, listed, errors = said(capsys, monkeypatch)
    assert (code, errors) == (0, "")
    width = max(map(len, COMMANDS))
    for name, command in COMMANDS.items():
        assert f"  {name:<{width}}  {command.line}\n" in listed
    assert said(capsys, monkeypatch, "--help") == (0, listed, "")
    assert said(capsys, monkeypatch, "--version") == (0, f"mpi_es {__version__}\n", "")
    of_pbt = [
        line.split()[:2] for line in said(capsys, monkeypatch, "pbt")[1].splitlines() if line[:2] == "  "
    ]
    assert of_pbt == [["pbt", name] for name in ("train", "evaluate", "report", "replay", "export")]


def test_listing_imports_nothing_that_takes_long():
    code = "import runpy, sys; sys.argv = ['mpi-es']\ntry: runpy.run_module('mpi_es', run_name='__main__')\n"
    code += f"except SystemExit: print({{*sys.modules}} & {{*{SLOW}}})"
    alone = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
    done = call(sys.executable, "-c", code, env=alone, check=True)
    assert done.stdout.splitlines()[-1] == "set()"


def test_an_unknown_command_is_one_line(capsys, monkeypatch):
    line = refused(2, "-m", "mpi_es", "trian")
    assert re.match("error: COMMAND: expected one of completion, .*, got 'trian'; did you mean 'train'", line)
    code, out, error = said(capsys, monkeypatch, "pbt", "repot")
    assert (code, out, error.count("\n")) == (2, "", 1)
    assert re.match("error: pbt COMMAND: expected one of evaluate, .*'repot'; did you mean 'report'", error)


def test_every_command_has_help(launch):
    done = launch(0, "-W", "ignore::RuntimeWarning", "-c", HELP, *COMMANDS)
    assert (done.returncode, done.stderr) == (0, "")
    helps = dict(zip(COMMANDS, done.stdout.split("== ")[1:], strict=True))
    assert min(map(len, helps.values())) > 50
    for name, words in {
        "train": "Evolve a neural-network policy",
        "status": "Progress and state of runs",
        "completion": "print a script",
        "pbt report": "family tree",
    }.items():
        assert words in helps[name]


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
    done = call(sys.executable, program, "train", "--env", "my_env:make", cwd=work, env=environ)
    assert "Error: found" in done.stderr


def test_every_command_is_a_module_that_can_be_run():
    for command in COMMANDS.values():
        path = ROOT / (command.module.replace(".", "/") + ".py")
        assert '__name__ == "__main__"' in path.read_text(encoding="utf-8")
