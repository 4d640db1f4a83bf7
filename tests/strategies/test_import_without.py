import importlib
import sys
from importlib.machinery import ModuleSpec

import pytest

from mpi_es.strategies.import_without import import_without


def test_a_module_is_absent_in_the_block_of_our_own_program_only(tmp_path, monkeypatch):
    (tmp_path / "some_module.py").write_text("number = 5")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("some_module")
    del sys.modules["some_module"]
    with import_without("some_module"):  # a user's program may need it
        assert importlib.import_module("some_module").number == 5
    del sys.modules["some_module"]
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", ModuleSpec("mpi_es.train", None))
    with import_without("some_module"), pytest.raises(ModuleNotFoundError):
        importlib.import_module("some_module")
    assert importlib.import_module("some_module").number == 5


def test_a_module_that_is_loaded_stays():
    with import_without("json"):
        import json
    assert sys.modules["json"] is json
