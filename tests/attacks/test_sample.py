"""A fixed sample of the attacks; `make attacks` makes as many as there is time for."""

import os
import sys

import pytest

from tests.attacks.kinds import KINDS
from tests.launching import ROOT, call


@pytest.mark.parametrize(
    ("kind", "number"),
    [
        ("kill", 1),
        ("failing call", 3),
        ("small memory", 2),
        pytest.param("stop", 4, marks=pytest.mark.slow),
        pytest.param("shell", 7, marks=pytest.mark.slow),
    ],
)
def test_a_run_that_was_attacked_goes_on_as_if_it_had_not_been(tmp_path, kind, number):
    if kind not in KINDS:
        pytest.skip("needs strace, or to be root")
    # From a process that is small: what it starts inherits the record of its memory.
    words = ("-m", "tests.attacks", "--seed", 1, "--kind", kind, "--attack", number)
    environ = os.environ | {"TMPDIR": str(tmp_path)}
    done = call(sys.executable, *words, cwd=ROOT, env=environ, timeout=1200)
    assert done.returncode == 0, done.stdout + done.stderr
