import os
import pickle
import subprocess
import sys

import pytest

from mpi_es.config.presets import preset
from tests.launching import LIMIT

COMPLETE = """
from mpi_es.config.presets import preset
from mpi_es.evaluation.build import make_rollout
from mpi_es.jit.listener import heard_by
def refuse():
    raise AssertionError("something is compiled")
with heard_by(refuse):
    make_rollout(preset("carracing-fast")).compile()
"""


def test_after_the_process_nothing_is_left_to_compile():
    command = [sys.executable, "-m", "mpi_es.evaluation.compiled.compile_rollout"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        pickle.dump((preset("carracing-fast"), None), process.stdin)
        process.stdin.flush()  # it stays open: the process ends when its caller does
        assert process.wait(timeout=LIMIT) == 0
    subprocess.run([sys.executable, "-c", COMPLETE], check=True, timeout=LIMIT)


MEMORY = """
import resource
from mpi_es.config.presets import preset
from mpi_es.evaluation.build import make_evaluator
from mpi_es.parallel.collectives import SerialComm
from mpi_es.parallel.stop_signal import StopFlag
make_evaluator(SerialComm(), preset("carracing-fast"), StopFlag())
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow  # it compiles all
def test_a_process_in_which_the_cache_was_empty_takes_no_more_memory_than_another(tmp_path):
    environ = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", MEMORY]
    first, second = (
        int(subprocess.run(command, env=environ, check=True, capture_output=True, timeout=LIMIT).stdout)
        for _ in range(2)
    )
    assert first < 1.1 * second
