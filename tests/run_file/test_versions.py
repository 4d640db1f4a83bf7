import platform

import h5py
import numpy as np
import torch

from mpi_es import __version__
from mpi_es.run_file import versions


def test_versions_are_those_that_the_libraries_tell_of_themselves():
    found = versions.libraries()
    assert (found["mpi_es"], found["python"]) == (__version__, platform.python_version())
    assert (found["numpy"], found["h5py"]) == (np.__version__, h5py.__version__)
    assert found["torch"].partition("+")[0] == torch.__version__.partition("+")[0]


def test_what_is_not_installed_is_left_out(monkeypatch):
    monkeypatch.setattr(versions, "LIBRARIES", ("numpy", "surely_not_installed"))
    assert list(versions.libraries.__wrapped__()) == ["mpi_es", "python", "numpy"]
