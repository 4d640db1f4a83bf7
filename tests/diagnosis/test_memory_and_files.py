import errno
import fcntl

import pytest

from mpi_es.diagnosis import memory_and_files


def test_shared_memory(tmp_path, unwritable):
    assert memory_and_files.shared_memory(tmp_path, ranks=2).status == "ok"
    assert memory_and_files.shared_memory(tmp_path, ranks=10**9).status == "fail"
    assert memory_and_files.shared_memory(unwritable, ranks=2).status == "fail"


def test_hdf5_write_leaves_nothing_behind(tmp_path, unwritable):
    assert memory_and_files.hdf5_write(tmp_path / "runs" / "new").status == "ok"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    finding = memory_and_files.hdf5_write(unwritable)
    assert finding.status == "fail"
    assert "--run-dir" in finding.remedy


def test_file_lock(tmp_path, unwritable, monkeypatch):
    assert memory_and_files.file_lock(tmp_path).status == "ok"
    assert memory_and_files.file_lock(unwritable).status == "fail"
    monkeypatch.setattr(fcntl, "flock", lambda file, how: None)  # as on a file system without locks
    assert memory_and_files.file_lock(tmp_path).seen == "a file can be locked twice"

    def refuse(file, how):
        raise OSError(errno.ENOSYS, "Function not implemented")  # Lustre without -o flock

    monkeypatch.setattr(fcntl, "flock", refuse)
    found = memory_and_files.file_lock(tmp_path)
    assert (found.status, found.seen) == ("warn", "no file can be locked (Function not implemented)")


@pytest.mark.parametrize(
    ("kind", "status"), [("ext4", "ok"), ("lustre", "ok"), ("tmpfs", "warn"), ("nfs4", "warn")]
)
def test_file_system(tmp_path, kind, status):
    mounts = f"/dev/a / xfs rw 0 0\n/dev/b {tmp_path} overlay rw 0 0\n/dev/c {tmp_path} {kind} rw 0 0\n"
    finding = memory_and_files.file_system(tmp_path / "runs", mounts)
    assert finding.seen.startswith(f"{kind}, ")
    assert finding.status == status


def test_a_full_file_system(tmp_path, monkeypatch):
    usage = memory_and_files.shutil.disk_usage(tmp_path)
    monkeypatch.setattr(memory_and_files.shutil, "disk_usage", lambda path: usage._replace(free=5))
    assert "make room" in memory_and_files.file_system(tmp_path, "/dev/a / ext4 rw 0 0").remedy


def test_numba_cache(tmp_path, unwritable):
    nowhere = {"XDG_CACHE_HOME": str(unwritable)}
    assert memory_and_files.numba_cache(nowhere, tmp_path).seen == str(tmp_path / "__pycache__")
    assert memory_and_files.numba_cache({"XDG_CACHE_HOME": str(tmp_path)}, unwritable).seen == str(
        tmp_path / "numba"
    )
    given = nowhere | {"NUMBA_CACHE_DIR": str(tmp_path)}
    assert memory_and_files.numba_cache(given, unwritable).seen == str(tmp_path)
    finding = memory_and_files.numba_cache(nowhere, unwritable)
    assert finding.status == "fail"
    assert "NUMBA_CACHE_DIR" in finding.remedy
