import io

import h5py
import numpy as np
import pytest

from mpi_es.run_file import hdf5


def tree(path, content, **how):
    """Return what is described of a file with these datasets and attributes."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, value in content.items():
            if isinstance(value, np.ndarray):
                file.create_dataset(name, data=value, **how)
            else:
                file.require_group("group").attrs[name] = value
    with open(path, "rb") as file:
        described = hdf5.described(file)
        for name, value in described.items():
            if isinstance(value, hdf5.Stored):
                described[name] = value.values
        return described


@pytest.mark.parametrize("kind", ["i1", "u2", "i4", "i8", "f2", "f4", "f8", "?"])
def test_an_array_is_read_from_its_place_to_the_bit(tmp_path, kind):
    values = np.arange(6).reshape(2, 3).astype(kind)
    read = tree(tmp_path / "file", {"a": values, "b": values[:0], "c": np.array(values[0, 0])})
    assert [read[name].tolist() for name in "abc"] == [values.tolist(), [], values[0, 0]]
    assert read["a"].dtype == values.dtype


@pytest.mark.parametrize("value", [1, -(2**63), 1.5, np.inf, True, "text", "ö", "", None])
def test_an_attribute_is_read_as_a_plain_value(tmp_path, value):
    stored = h5py.Empty("f8") if value is None else value
    read = tree(tmp_path / "file", {"a": stored})["group"]["a"]
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize("values", [(1, 2), (1.5,), ("a=1", "ö"), ()])
def test_a_list_is_read_as_an_array(tmp_path, values):
    assert tuple(tree(tmp_path / "file", {"a": values})["group"]["a"].tolist()) == values


def refused(tmp_path, change):
    """Return why a file is refused that was changed by h5py."""
    path = tmp_path / "file"
    with h5py.File(path, "w", userblock_size=512) as file:
        file["history/mean"] = np.arange(3.0)
        change(file)
    with open(path, "rb") as file, pytest.raises(hdf5.Unfit) as caught:
        hdf5.described(file)
    return str(caught.value)


def deep(file):
    for _ in range(hdf5.DEEPEST + 1):
        file = file.create_group("g")


def cycle(file):
    file["history/again"] = file["history"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda file: file.__setitem__("a", h5py.SoftLink("/history/mean")), "/a is a link to elsewhere"),
        (lambda file: file.__setitem__("a", h5py.ExternalLink("x", "/")), "/a is a link to elsewhere"),
        (lambda file: file.__setitem__("a", np.dtype("f8")), "/a is neither a group nor an array"),
        (lambda file: file.__setitem__("a", file["history/mean"]), "/history/mean is there twice"),
        (cycle, "/history/again is there twice"),
        (deep, "more than 32 groups are in each other"),
        (lambda file: file.create_dataset("a", (2**40,), "f4"), "/a is not in the file"),
        (
            lambda file: file.create_dataset("a", (3,), "f4", external=[("x", 0, 12)]),
            "/a does not lie in one piece",
        ),
        (lambda file: file.create_dataset("a", (3,), "f4", chunks=(3,)), "/a does not lie in one piece"),
        (lambda file: file.create_dataset("a", (3,), "c16"), "/a is no array of numbers"),
        (lambda file: file.create_dataset("a", data=["x"]), "/a is no array of numbers"),
        (lambda file: file.attrs.__setitem__("a", np.zeros((2, 2))), "/a is no number, text or list of them"),
        (lambda file: file.attrs.__setitem__("a", 1j), "/a is no number, text or list of them"),
        (
            lambda file: file.attrs.create("a", b"\xff", dtype=h5py.string_dtype()),
            "a text in /a is not UTF-8",
        ),
    ],
)
def test_what_no_run_writes_is_refused_before_it_is_read(tmp_path, change, why):
    assert refused(tmp_path, change).startswith(why)


def test_no_other_file_is_opened(tmp_path):
    other = tmp_path / "other"
    other.write_bytes(bytes(12))
    why = refused(tmp_path, lambda file: file.create_dataset("a", (3,), "f4", external=[(str(other), 0, 12)]))
    assert why.startswith("/a does not lie in one piece")


def test_a_truth_value_is_0_or_1(tmp_path):
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        file["a"] = np.array([True, False, True])
        place = file["a"].id.get_offset()
    image = bytearray(buffer.getvalue())
    image[place] = 7
    (tmp_path / "file").write_bytes(image)
    with open(tmp_path / "file", "rb") as file, pytest.raises(hdf5.Unfit, match="a truth value"):
        _ = hdf5.described(file)["a"].values


def test_a_file_at_which_libhdf5_crashes_or_loops_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(hdf5, "_SECONDS", 0.2)
    path = tmp_path / "file"
    path.write_bytes(b"no HDF5")
    with open(path, "rb") as file, pytest.raises(hdf5.Unfit, match="HDF5 cannot read it"):
        hdf5.described(file)
    tree(path, {"a": np.zeros(3)})

    def endless(*_):
        while True:
            pass

    for bad in (endless, lambda *_: bytearray(2**40), lambda *_: h5py.h5g.os.abort()):
        monkeypatch.setattr(hdf5, "_entries", bad)
        with open(path, "rb") as file, pytest.raises(hdf5.Unfit, match="HDF5 cannot read it"):
            hdf5.described(file)
