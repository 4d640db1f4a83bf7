from pathlib import Path

import pytest

from mpi_es.config.run import configured
from mpi_es.errors import UserError
from mpi_es.run_file.checkpoint import NOWHERE
from mpi_es.scripts import directories
from mpi_es.scripts.directories import list_for_job, new_directory
from mpi_es.train import Plan

CONFIG = configured(run_dir="runs/mine-{seed}", seed=3)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    directories.CALLS.clear()


def test_a_new_directory_is_made_and_numbered():
    assert [new_directory(CONFIG) for _ in range(3)] == ["runs/mine-3", "runs/mine-3-2", "runs/mine-3-3"]
    assert Path("runs/mine-3-3").is_dir()


def test_a_directory_that_cannot_be_made_is_named():
    Path("runs").touch()
    with pytest.raises(UserError, match=r"--run-dir: cannot create runs/mine-3 \(Not a directory\)"):
        new_directory(CONFIG)


def test_a_job_that_is_requeued_finds_its_directories_again(tmp_path, monkeypatch):
    monkeypatch.setenv(directories.RUNS, str(tmp_path))
    for _ in range(2):
        directories.CALLS.clear()
        assert [Path(new_directory(CONFIG)).name for _ in range(2)] == ["mine-3", "mine-3-2"]
        for place in (Path("named"), NOWHERE):
            list_for_job(Plan("mpi_es.train", CONFIG, place, b""))
    assert (tmp_path / directories.LIST).read_text() == f"{Path('named').absolute()}\n" * 2
