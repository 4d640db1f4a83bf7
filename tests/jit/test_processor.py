from pathlib import Path

import pytest

from mpi_es.jit.processor import AVX512

CPUINFO = Path("/proc/cpuinfo")


@pytest.mark.skipif(not CPUINFO.exists(), reason="needs /proc/cpuinfo")
def test_avx512_is_what_linux_says():
    assert (" avx512f " in CPUINFO.read_text()) == AVX512
