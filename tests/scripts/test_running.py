import os

import numpy as np
import pytest

from mpi_es.config.run import configured
from mpi_es.run_file.checkpoint import NOWHERE
from mpi_es.scripts.running import named_directory, plan_of, rank, table


def test_none_means_that_no_files_are_written():
    assert named_directory(None) == [str(NOWHERE)] == [os.devnull]
    assert (named_directory(""), named_directory("mine")) == ([], ["mine"])


def test_a_directory_is_chosen_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    directory = []
    plans = [plan_of(configured(run_dir="runs/mine"), directory) for _ in range(2)]
    assert directory == ["runs/mine"]
    assert [plan.config.run_dir for plan in plans] == ["runs/mine"] * 2


def test_a_process_alone_is_rank_0():
    assert rank() == 0


def test_a_history_is_a_table_of_its_generations():
    pytest.importorskip("pandas")
    assert table({"generation": np.array([1, 2]), "best": np.array([3.0, 4.0])})["best"][2] == 4.0
