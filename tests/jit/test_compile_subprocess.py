import os
import subprocess
import sys
from pathlib import Path

from mpi_es.jit.compile_subprocess import compile_apart
from tests.launching import LIMIT, wait_until

WRITING = "tests.jit.writing"


def test_the_task_is_done_in_another_process(tmp_path):
    compile_apart(WRITING, (tmp_path / "number", False))
    assert int((tmp_path / "number").read_text()) != os.getpid()


def test_a_process_that_fails_is_left_to_the_caller(capfd, monkeypatch, tmp_path):
    compile_apart("tests.jit.no_such_module", ())
    compile_apart(WRITING, ())
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    compile_apart(WRITING, (tmp_path / "number", False))
    assert not (tmp_path / "number").exists()
    assert capfd.readouterr() == ("", "")


def test_it_ends_when_its_caller_is_killed(tmp_path):
    imports = "from mpi_es.jit.compile_subprocess import compile_apart; from pathlib import Path"
    code = f"{imports}; compile_apart({WRITING!r}, "
    caller = subprocess.Popen([sys.executable, "-c", f"{code}(Path({str(tmp_path)!r}, 'number'), True))"])
    wait_until((tmp_path / "number").exists, "task")
    caller.kill()
    caller.wait(timeout=LIMIT)
    own = Path("/proc", (tmp_path / "number").read_text(), "stat")
    wait_until(lambda: not own.exists() or own.read_text().rpartition(")")[2].split()[0] == "Z", "end")
