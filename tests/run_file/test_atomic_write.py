import os
from pathlib import Path

import pytest

from mpi_es.errors import UserError
from mpi_es.run_file.atomic_write import write_whole


def test_a_link_stays_one_and_its_file_is_replaced(tmp_path):
    (tmp_path / "link").symlink_to("file")
    write_whole(tmp_path / "link", b"one", "--out")
    write_whole(tmp_path / "link", b"two", "--out")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"two"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "link"]


def test_what_was_there_stays_where_writing_fails(tmp_path, monkeypatch):
    def full(source, target):
        raise OSError(28, "No space left on device")

    (tmp_path / "file").write_bytes(b"one")
    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(UserError, match=r"--out: cannot write .*file \(No space left on device\)"):
        write_whole(tmp_path / "file", b"two", "--out")
    assert (tmp_path / "file").read_bytes() == b"one"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_device_stays_one():
    write_whole(Path(os.devnull), b"one", "--out")
    assert not os.path.isfile(os.devnull)
