import pytest

from mpi_es import checkpoint, where


@pytest.mark.parametrize(
    ("arguments", "directory"),
    [
        ("mpi_es.train cartpole --seed 7", "runs/CartPole-v1-cma_es-7"),
        ("mpi_es.train --env CartPole-v1 --run-dir here", "here"),
        ("pbt.train toy --seed 3", "runs/pbt-toy-3"),
    ],
)
def test_the_directory_is_the_command_s_own(capsys, arguments, directory):
    assert where.main(arguments.split()) == 0
    assert capsys.readouterr().out == directory + "\n"


def test_a_mistake_is_one_line(capsys):
    assert where.main(["mpi_es.train", "cartpol"]) == 2
    assert capsys.readouterr().err.startswith("error: preset: expected one of")


def test_a_damaged_run_is_told(capsys, tmp_path):
    (tmp_path / checkpoint.NAME).write_bytes(b"")
    assert where.main(["mpi_es.train", "cartpole", "--run-dir", str(tmp_path)]) == 2
    assert "expected a run file of mpi_es" in capsys.readouterr().err
