import sys

import pytest

from mpi_es.lazy import attributes


def test_a_name_is_imported_when_it_is_first_used(monkeypatch):
    monkeypatch.delitem(sys.modules, "wave", raising=False)
    find = attributes("pack", {"wave": ("WAVE_FORMAT_PCM",), "math": ("tau", "pi")})
    assert "wave" not in sys.modules
    assert find("WAVE_FORMAT_PCM") == 1
    assert find("tau") == 2 * find("pi")
    with pytest.raises(AttributeError, match="module 'pack' has no attribute 'wave'"):
        find("wave")
