import importlib
import sys

import pytest

from mpi_es.strategies.import_without import import_without


def test_a_module_is_absent_in_the_block_only(tmp_path, monkeypatch):
    (tmp_path / "some_module.py").write_text("number = 5")
    monkeypatch.syspath_prepend(tmp_path)
    with import_without("some_module"), pytest.raises(ModuleNotFoundError):
        importlib.import_module("some_module")
    assert importlib.import_module("some_module").number == 5


def test_a_module_that_is_loaded_stays():
    with import_without("json"):
        import json
    assert sys.modules["json"] is json
