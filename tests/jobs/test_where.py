import io
import os
import subprocess
import sys

import pytest

from mpi_es.jobs import where
from mpi_es.run_file import checkpoint
from tests.launching import LIMIT, ROOT


@pytest.mark.parametrize(
    ("arguments", "directory"),
    [
        ("mpi_es.train cartpole --seed 7", "runs/cartpole-7"),
        ("mpi_es.train --env CartPole-v1 --run-dir here", "here"),
        ("pbt.train toy --seed 3", "runs/pbt-toy-3"),
    ],
)
def test_the_directory_is_the_command_s_own(arguments, directory):
    answer = io.StringIO()
    assert where.main(arguments.split(), answer) == 0
    assert answer.getvalue() == directory + "\n"


def test_options_without_effect_are_left_to_the_run_to_report(capsys):
    assert where.main(["mpi_es.train", "cartpole", "--layout", "torch"], io.StringIO()) == 0
    assert capsys.readouterr().err == ""


NOISY = """
import ctypes
import gymnasium
ctypes.CDLL(None).puts(b"noise in C")
print("noise")
def make():
    return gymnasium.make("CartPole-v1")
"""


@pytest.mark.parametrize(
    ("arguments", "code", "answer", "told"),
    [("--env noisy:make --run-dir here", 0, "here\n", "noise"), ("--help", 2, "", "--population-size")],
)
def test_nothing_but_the_directory_is_the_answer(tmp_path, arguments, code, answer, told):
    (tmp_path / "noisy.py").write_text(NOISY)
    command = [sys.executable, "-m", "mpi_es.jobs.where", "mpi_es.train", *arguments.split()]
    environ = os.environ | {"PYTHONPATH": f"{ROOT}:{tmp_path}"}
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=LIMIT)
    assert (done.returncode, done.stdout) == (code, answer)
    assert told in done.stderr


def test_a_mistake_is_one_line(capsys):
    assert where.main(["mpi_es.train", "cartpol"], sys.stdout) == 2
    assert capsys.readouterr().err.startswith("error: preset: expected one of")


def test_a_damaged_run_is_reported(capsys, tmp_path):
    (tmp_path / checkpoint.NAME).write_bytes(b"")
    assert where.main(["mpi_es.train", "cartpole", "--run-dir", str(tmp_path)], sys.stdout) == 2
    assert "expected a run file of mpi_es" in capsys.readouterr().err
