import os
import sys

from tests.launching import call

# `drawn` is too large for its caller, so it stays a function of its own.
SUMS = """
import sys
import numpy as np
from mpi_es.jit.decorator import compiled
from mpi_es.worlds import numpy_random, record


@compiled()
def drawn(state):
    numpy_random.begin_stream(state.generator, 1)
    for i in range(len(state.numbers)):
        state.numbers[i] = numpy_random.integers(state.generator, 9)
        state.numbers[i] += numpy_random.integers(state.generator, 9)


@compiled()
def total(states):
    drawn(states[0])
    return states[0].numbers.sum()


for size in map(int, sys.argv[1:]):
    print(total(record(generator=numpy_random.allocate(), numbers=np.zeros(size))), end=" ")
"""


def test_code_that_two_processes_kept_does_not_mix_in_a_third(tmp_path):
    (tmp_path / "sums.py").write_text(SUMS)
    environ = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "kept")}

    def totals(*sizes):
        command = sys.executable, str(tmp_path / "sums.py"), *map(str, sizes)
        return call(*command, env=environ).stdout.split()

    apart = totals(3) + totals(9)
    assert totals(3, 9) == apart
    assert totals(9, 3) == apart[::-1]
