import json
from pathlib import Path

import pytest

from mpi_es.jit import warm_up
from mpi_es.jit.listener import announce_compilation
from mpi_es.parallel.collectives import SerialComm
from tests.launching import LIMIT, wait_until


def test_a_short_wait_prints_nothing(capsys, monkeypatch):
    monkeypatch.setattr(warm_up, "_QUIET_TIME", LIMIT)
    warm_up.prepare(SerialComm(), lambda: None)
    assert capsys.readouterr() == ("", "")


def wait_for_words(capsys):
    """Return what is said while a compilation lasts until something is."""
    said = []
    warm_up.prepare(SerialComm(), lambda: said.append(wait_until(lambda: capsys.readouterr().err, "words")))
    return said[0]


@pytest.mark.parametrize(
    ("directory", "kept"), [("cache", "(kept in "), ("/proc/none", "(not kept: cannot write to ")]
)
def test_a_long_wait_prints_where_the_code_is_kept(capsys, monkeypatch, tmp_path, directory, kept):
    monkeypatch.setattr(warm_up, "_QUIET_TIME", 0.0)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / directory))
    if directory.startswith("/proc"):
        monkeypatch.setattr(warm_up, "PACKAGE", Path("/proc/none"))
        monkeypatch.setenv("XDG_CACHE_HOME", "/proc/none")
    said = wait_for_words(capsys)
    assert said.startswith("loading or compiling environment and policy")
    assert kept in said


def test_a_line_is_printed_once_if_machine_code_is_compiled_and_not_within_prepare(
    capsys, monkeypatch, tmp_path
):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(warm_up, "_QUIET_TIME", LIMIT)

    def compile_all():
        with warm_up.announced():
            announce_compilation()

    with warm_up.announced():
        assert capsys.readouterr().err == ""
    warm_up.prepare(SerialComm(), compile_all)
    assert capsys.readouterr().err == ""
    compile_all()
    compile_all()
    assert capsys.readouterr().err == f"compiling the environment, up to a minute (kept in {tmp_path}) …\n"


SCRIPT = """
import json, time
from mpi4py import MPI
from mpi_es.jit.warm_up import prepare
comm, spans = MPI.COMM_WORLD, []
def compile_all():
    begin = time.time()
    time.sleep(0.2 if comm.rank == 0 else 0)
    spans.append((begin, time.time()))
prepare(comm, compile_all)
gathered = comm.gather(spans[0])
if comm.rank == 0:
    print(json.dumps(gathered))
"""


def test_the_others_of_a_node_begin_when_its_first_rank_is_done(launch):
    done = launch(3, "-m", "mpi4py", "-c", SCRIPT)
    first, *others = json.loads(done.stdout)
    assert len(others) == 2
    assert all(begin >= first[1] for begin, _ in others)
