import errno
import os
import socket
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from mpi_es.errors import UserError
from mpi_es.run_file import checkpoint
from mpi_es.run_file.lock import locked
from tests.run_file import bases

REPLACED = "was moved, replaced or removed"


def content(generation):
    return {"progress": {"generation": generation}}


def make_socket(path):
    socket.socket(socket.AF_UNIX).bind(path.name)


@pytest.mark.parametrize(
    "make", [os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/zero", path), make_socket]
)
def test_a_lock_that_is_no_file_is_refused_at_once(tmp_path, monkeypatch, make):
    monkeypatch.chdir(tmp_path)  # a socket's path is short
    make(tmp_path / ".lock")
    why = r"\.lock: expected a file or nothing, got something else; remove"
    with pytest.raises(UserError, match=why), locked(tmp_path):
        pass


def test_a_second_lock_is_refused_and_the_first_goes_with_its_block(tmp_path):
    with locked(tmp_path), pytest.raises(UserError, match="another job is running"), locked(tmp_path):
        pass
    with locked(tmp_path) as lock:
        lock.check()


def test_a_process_that_was_forked_during_a_run_does_not_hold_its_lock(tmp_path):
    with ProcessPoolExecutor(1, get_context("fork")) as pool:
        with locked(tmp_path) as lock:
            assert pool.submit(os.getppid).result() == os.getpid()  # the worker runs, and goes on
            lock.check()
        with locked(tmp_path):
            pass


def test_a_run_whose_place_another_takes_leaves_it_alone(tmp_path):
    run, moved = tmp_path / "run", tmp_path / "moved"
    run.mkdir()
    with locked(run) as lock:
        checkpoint.save(run, content(1), lock)
        run.rename(moved)
        run.mkdir()
        checkpoint.save(run, content(7))
        with pytest.raises(UserError, match=REPLACED):
            checkpoint.save(run, content(2), lock)
    assert bases.read(run)["progress"] == {"generation": 7}
    assert bases.read(moved)["progress"] == {"generation": 1}
    assert sorted(path.name for path in run.iterdir()) == ["run.h5"]


def test_a_directory_that_was_removed_is_one_line(tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    with locked(run) as lock:
        run.rename(tmp_path / "elsewhere")
        with pytest.raises(UserError, match=REPLACED):
            checkpoint.save(run, content(1), lock)


def test_a_directory_that_goes_away_during_a_save_is_the_same_line(tmp_path, monkeypatch):
    run = tmp_path / "run"
    run.mkdir()
    with locked(run) as lock:
        check = lock.check

        def last_check():
            check()
            monkeypatch.undo()
            run.rename(tmp_path / "elsewhere")

        monkeypatch.setattr(lock, "check", last_check)
        with pytest.raises(UserError, match=REPLACED):
            checkpoint.save(run, content(1), lock)


def test_a_lock_file_that_was_removed_ends_no_run_but_a_new_one_does(tmp_path):
    with locked(tmp_path) as lock:
        (tmp_path / ".lock").unlink()
        checkpoint.save(tmp_path, content(1), lock)
        with locked(tmp_path), pytest.raises(UserError, match=REPLACED):
            checkpoint.save(tmp_path, content(2), lock)
    assert bases.read(tmp_path)["progress"] == {"generation": 1}


def test_a_file_system_that_fails_at_the_close_of_the_lock_hides_no_other_error(tmp_path, monkeypatch):
    close = os.close

    def failing(handle):
        close(handle)
        raise OSError(errno.ENOTCONN, os.strerror(errno.ENOTCONN))

    monkeypatch.setattr(os, "close", failing)
    with pytest.raises(UserError, match="the first error"), locked(tmp_path):
        raise UserError("the first error")


def test_a_file_system_that_fails_once_the_lock_is_open_is_one_line(tmp_path, monkeypatch):
    fstat = os.fstat

    def failing(handle):
        if os.path.samestat(fstat(handle), os.stat(tmp_path / ".lock")):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return fstat(handle)

    monkeypatch.setattr(os, "fstat", failing)
    expected = r"\.lock: could not be opened \(Input/output error\)"
    with pytest.raises(UserError, match=expected), locked(tmp_path):
        pass


def test_the_lock_of_another_user_is_seen(tmp_path, monkeypatch):
    opened = os.open

    def refused(path, flags, *mode):
        if flags & os.O_RDWR:
            raise PermissionError(13, "Permission denied")
        return opened(path, flags, *mode)

    with locked(tmp_path):
        monkeypatch.setattr(os, "open", refused)
        with pytest.raises(UserError, match="another job is running this run"), locked(tmp_path):
            pass
