import errno
import io
import os
import re
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
import pytest

from mpi_es.errors import UserError
from mpi_es.run_file import checkpoint, description


def load(directory):
    """Load a file whose content is no run's."""
    return checkpoint.load(directory, lambda content: None)


@dataclass(slots=True)
class State:
    generation: int
    rate: float
    name: str
    on: bool
    centre: np.ndarray
    widths: tuple[int, ...] = ()
    limit: float | None = None
    options: tuple[str, ...] = ()
    none: tuple[int, ...] = ()


def content(generation=3):
    state = State(generation, 0.1, "pc", True, np.arange(5.0), (7, 9), None, ("a=1", "ö=x"))
    return {"state": state, "history": {"best": np.array([1.0, np.nan])}, "note": "ö"}


def save(directory, *generations):
    for generation in generations:
        checkpoint.save(directory, content(generation))


def test_round_trip_keeps_types_and_bits(tmp_path):
    checkpoint.save(tmp_path, content())
    read, warning = load(tmp_path)
    state = description.from_plain(State, read["state"])
    assert warning == ""
    assert (state.generation, state.rate, state.name, state.on) == (3, 0.1, "pc", True)
    assert type(state.generation) is int
    assert type(state.on) is bool
    assert state.widths == (7, 9)
    assert state.limit is None
    assert state.options == ("a=1", "ö=x")
    assert state.none == ()
    np.testing.assert_array_equal(state.centre, np.arange(5.0))
    np.testing.assert_array_equal(read["history"]["best"], [1.0, np.nan])


def test_same_content_gives_the_same_bytes(tmp_path):
    checkpoint.save(tmp_path, content())
    first = (tmp_path / "run.h5").read_bytes()
    checkpoint.save(tmp_path, content())
    assert (tmp_path / "run.h5").read_bytes() == first
    with h5py.File(tmp_path / "run.h5") as file:
        assert h5py.h5g.get_objinfo(file["state"].id, b"centre").mtime == 0


def flip(path: Path, offset: int) -> None:
    image = bytearray(path.read_bytes())
    image[offset] ^= 0x10
    path.write_bytes(image)


def decode(path):
    return checkpoint.decode(path, lambda content: None)


def damages(image: bytes, count: int) -> list[bytes]:
    """Return versions of a file: torn off, with a bit flipped, a block zeroed, or blocks of another save."""
    draw, made = np.random.default_rng(5), [image[:size] for size in (0, 1, 400, 512, 1000)]
    made += [bytes([image[0] ^ 0x10]) + image[1:], image[:-1] + bytes([image[-1] ^ 0x10])]
    for number in range(count - 1):
        at = int(draw.integers(len(image)))
        copy = bytearray(image)
        if number % 4 == 0:
            copy = copy[:at]
        elif number % 4 == 1:
            copy[at] ^= 1 << int(draw.integers(8))
        elif number % 4 == 2:
            copy[at : at + 512] = bytes(len(copy[at : at + 512]))
        else:
            copy += image[at:]
        made.append(bytes(copy))
    return [one for one in made if one != image]  # zeros over zeros are no damage


def test_whatever_befalls_the_file_it_is_whole_or_the_previous_one_is_taken(tmp_path):
    save(tmp_path, 1, 2)
    path = tmp_path / "run.h5"
    made = damages(path.read_bytes(), 240)
    assert len(made) >= 200
    for image in made:
        path.write_bytes(image)
        with pytest.raises(checkpoint.Damaged):  # for which alone the previous file is taken
            decode(path)
    for image in made[::20]:
        path.write_bytes(image)
        read, warning = load(tmp_path)
        assert read["state"]["generation"] == 1
        assert "using run.previous.h5" in warning


def test_whatever_befalls_both_files_is_reported_in_one_line(tmp_path):
    save(tmp_path, 1, 2)
    for image in damages((tmp_path / "run.h5").read_bytes(), 50):
        for name in ("run.h5", "run.previous.h5"):
            (tmp_path / name).write_bytes(image)
        with pytest.raises(UserError, match=r"run\.previous\.h5: (damaged|expected a run file)") as caught:
            load(tmp_path)
        assert "\n" not in str(caught.value)


def test_a_newer_format_is_refused_even_beside_an_older_file(tmp_path, monkeypatch):
    checkpoint.save(tmp_path, content())
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "VERSION", 3)
        checkpoint.save(tmp_path, content())
    with pytest.raises(UserError, match="expected format 1, got 3"):
        load(tmp_path)


def test_a_bit_of_the_version_is_damage_as_any_other(tmp_path):
    save(tmp_path, 1, 2)
    path = tmp_path / "run.h5"
    path.write_bytes(path.read_bytes().replace(b"run.h5 1 ", b"run.h5 5 ", 1))
    assert load(tmp_path)[0]["state"]["generation"] == 1


@pytest.mark.parametrize(
    ("name", "written", "why"),
    [
        ("", "", r"expected a directory that holds run\.h5"),
        ("", "run.h5", "expected a run file of mpi_es"),
        ("other", "other", r"got '.*other'; to read a run file of another name"),
        ("run.previous.h5", "run.previous.h5", r"got '.*run.previous.h5'; use {place}, which reads it if"),
    ],
)
def test_what_is_no_run_is_reported(tmp_path, name, written, why):
    if written:
        with h5py.File(tmp_path / written, "w") as file:
            file["x"] = 1
    with pytest.raises(UserError, match=why.format(place=re.escape(str(tmp_path)))):
        load(tmp_path / name)


def test_a_directory_that_cannot_be_searched_is_reported(tmp_path, monkeypatch):
    def refused(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(checkpoint.Path, "exists", refused)  # root may search any
    with pytest.raises(UserError, match=r"cannot be searched for a run \(Permission denied\)"):
        load(tmp_path)


def test_an_unknown_field_is_reported():
    with pytest.raises(UserError, match="got colour"):
        description.from_plain(State, {"colour": 1})


def test_the_previous_file_is_one_save_older(tmp_path):
    save(tmp_path, 1, 2, 3)
    assert decode(tmp_path / "run.previous.h5")["state"]["generation"] == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.h5", "run.previous.h5"]


def test_a_save_is_synced_before_it_has_its_name_and_the_directory_afterwards(tmp_path, monkeypatch):
    checkpoint.save(tmp_path, content(1))
    done, sync, rename = [], os.fsync, os.replace

    def synced(handle):
        found = os.fstat(handle)
        done.append((found.st_ino, found.st_size))
        sync(handle)

    def renamed(old, new):
        done.append(new.name)
        rename(old, new)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", renamed)
    checkpoint.save(tmp_path, content(2))
    file, directory = (path.stat() for path in (tmp_path / "run.h5", tmp_path))
    assert done[0] == (file.st_ino, file.st_size)
    assert done[1:3] == ["run.previous.h5", "run.h5"]
    assert [number for number, _ in done[3:]] == [directory.st_ino]


def test_a_directory_that_cannot_be_synced_holds_the_new_file_and_is_reported(tmp_path, monkeypatch):
    checkpoint.save(tmp_path, content(1))
    sync = os.fsync

    def refuse_directories(handle):
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        sync(handle)

    monkeypatch.setattr(os, "fsync", refuse_directories)
    with pytest.raises(
        UserError, match=r"run\.h5: saved, but its directory was not synced \(Input/output error\)"
    ):
        checkpoint.save(tmp_path, content(2))
    assert load(tmp_path)[0]["state"]["generation"] == 2


def test_a_full_disk_leaves_the_last_file_whole(tmp_path, small_disk):
    small_disk(256)
    checkpoint.save(tmp_path, content(1))
    with pytest.raises(UserError, match=r"No space left on device.*; run\.h5 holds"):
        checkpoint.save(tmp_path, {"state": {"large": np.random.default_rng(0).random(100_000)}})
    assert load(tmp_path)[0]["state"]["generation"] == 1
    assert {p.name for p in tmp_path.iterdir()} == {"run.h5"}


def test_a_disk_that_becomes_read_only_leaves_the_last_file_whole(tmp_path, small_disk):
    small_disk(256)
    checkpoint.save(tmp_path, content(1))
    subprocess.run(["mount", "-o", "remount,ro", tmp_path], check=True)
    with pytest.raises(UserError, match=r"Read-only file system.*; run\.h5 holds"):
        checkpoint.save(tmp_path, content(2))
    assert load(tmp_path)[0]["state"]["generation"] == 1


def test_opening_uses_no_pickle(tmp_path):
    checkpoint.save(tmp_path, content())
    image = (tmp_path / "run.h5").read_bytes()
    with h5py.File(io.BytesIO(image)) as file:
        kinds = []
        file.visititems(lambda _, item: kinds.append(getattr(item, "dtype", np.dtype("f8")).kind))
    assert set(kinds) <= set("fiub")


def test_a_damaged_file_set_aside_leaves_the_whole_one_where_it_is(tmp_path):
    save(tmp_path, 1, 2)
    flip(tmp_path / "run.h5", 2000)
    checkpoint.set_aside(tmp_path)
    checkpoint.save(tmp_path, content(3))
    assert decode(tmp_path / "run.previous.h5")["state"]["generation"] == 1
    assert load(tmp_path)[0]["state"]["generation"] == 3
