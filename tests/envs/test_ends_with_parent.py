import os
import select
import subprocess
import sys

import pytest

from mpi_es.envs import ends_with_parent
from tests.launching import LIMIT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a signal of Linux")
SLEEPER = ["import time; print(flush=True); time.sleep(1000)"]
PARENT = """
import os, subprocess, sys
command = [sys.executable, "-IS", sys.argv[1], str(os.getpid()), sys.executable, "-c", sys.argv[2]]
with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
    child.stdout.readline()
    print(child.pid, flush=True)
    child.wait()
"""


def test_a_program_ends_when_its_parent_is_killed():
    command = [sys.executable, "-c", PARENT, ends_with_parent.__file__, *SLEEPER]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:
        handle = os.pidfd_open(int(parent.stdout.readline()))
        parent.kill()
    assert select.select([handle], [], [], LIMIT)[0]
    os.close(handle)


def test_a_program_whose_parent_has_ended_before_does_not_begin():
    another = 1
    command = [sys.executable, "-IS", ends_with_parent.__file__, str(another), sys.executable, "-c", *SLEEPER]
    done = subprocess.run(command, capture_output=True, timeout=LIMIT, check=True)
    assert done.stdout == b""
