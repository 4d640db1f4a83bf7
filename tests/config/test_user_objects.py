import numpy as np
import pytest
from gymnasium import spaces

from mpi_es.config.run import Config
from mpi_es.errors import UserError
from mpi_es.policies import make

VECTOR = spaces.Box(-1, 1, (4,), np.float32)


def test_a_module_that_cannot_be_imported_is_told(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "needs_more.py").write_text("import surely_not_installed\n")
    (tmp_path / "has_a_typo.py").write_text("class Net(:\n")
    with pytest.raises(UserError, match="needs_more needs the package 'surely_not_installed'"):
        make(Config(policy="needs_more:Net"), VECTOR, spaces.Discrete(2))
    with pytest.raises(UserError, match="importing has_a_typo failed: SyntaxError"):
        make(Config(policy="has_a_typo:Net"), VECTOR, spaces.Discrete(2))
