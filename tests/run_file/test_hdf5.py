import io
import threading

import h5py
import numpy as np
import pytest

from mpi_es.run_file import hdf5


def image(change):
    """Return the bytes of a file that h5py writes."""
    buffer = io.BytesIO()
    with h5py.File(buffer, "w", userblock_size=512) as file:
        change(file)
    return buffer.getvalue()


def stored(**values):
    """Return what is read of arrays and attributes."""

    def write(file):
        for name, value in values.items():
            place = file if isinstance(value, np.ndarray) else file.attrs
            place[name] = value

    return hdf5.read(image(write))


WRITTEN = {
    "a": np.arange(6.0).reshape(2, 3).T,
    "b": np.array(2.5),
    "c": np.zeros((0, 4), np.float32),
    "d": {"e": (1, 2), "f": ("a=1", "ö"), "g": tuple(range(5000)), "h": ("x",) * 2000, "i": ()},
    "j": np.array(["x", "y"], object),
    "k": np.array([True, False]),
    "l": {},
}


def test_what_is_written_is_read():
    read = hdf5.read(hdf5.written(WRITTEN, 512).getvalue())
    for name, value in read.pop("d").items():
        assert tuple(value.tolist()) == WRITTEN["d"][name]
    for name, value in read.items():
        np.testing.assert_equal(value, WRITTEN[name])
        assert isinstance(value, dict) or (value.dtype, value.shape) == (
            WRITTEN[name].dtype,
            WRITTEN[name].shape,
        )


def test_h5py_s_own_functions_read_what_is_written():
    content = {"a": 1, "b": "ö", "c": 2.5, "d": None, "e": True, "f": ("x", "y"), "g": {"h": np.arange(3.0)}}
    with h5py.File(hdf5.written(content, 512), "r") as file:
        assert [file.attrs[name] for name in "abce"] == [1, "ö", 2.5, True]
        assert file.attrs["d"] == h5py.Empty("f8")
        assert list(file.attrs["f"]) == ["x", "y"]
        assert list(file["g/h"]) == [0, 1, 2]


@pytest.mark.parametrize("kind", ["i1", "u2", "i4", "i8", "f2", "f4", "f8", ">f8", "?"])
def test_an_array_is_read_to_the_bit(kind):
    values = np.arange(6).reshape(2, 3).astype(kind)
    read = stored(a=values, b=values[:0], c=np.array(values[0, 0]))
    assert [read[name].tolist() for name in "abc"] == [values.tolist(), [], values[0, 0]]
    assert read["a"].dtype == values.dtype


@pytest.mark.parametrize("value", [1, -(2**63), 1.5, np.inf, True, "text", "ö", "", None])
def test_an_attribute_is_read_as_a_plain_value(value):
    read = stored(a=h5py.Empty("f8") if value is None else value)["a"]
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize("values", [(1, 2), (1.5,), ("a=1", "ö"), ()])
def test_a_list_is_read_as_an_array(values):
    assert tuple(stored(a=values)["a"].tolist()) == values


def test_chunks_and_compression_are_allowed():
    how = {"chunks": (100,), "compression": "gzip", "shuffle": True, "fletcher32": True}
    read = hdf5.read(image(lambda file: file.create_dataset("a", data=np.arange(1000), **how)))
    assert read["a"].tolist() == list(range(1000))


def zeros(file):
    file.create_dataset("a", data=np.zeros(10_000_000), compression="gzip")


def virtual(file):
    layout = h5py.VirtualLayout(shape=(3,), dtype="f8")
    layout[...] = h5py.VirtualSource("other.h5", "x", shape=(3,))
    file.create_virtual_dataset("a", layout)


def of_a_named_type(file):
    file["type"] = np.dtype("f8")
    file.create_dataset("a", (3,), file["type"])
    del file["type"]


REFUSED = [
    (lambda file: file.__setitem__("a", h5py.SoftLink("/history/mean")), "/a is a link to another place"),
    (lambda file: file.__setitem__("a", h5py.ExternalLink("x", "/")), "/a is a link to another place"),
    (lambda file: file.__setitem__("a", np.dtype("f8")), "/a is neither a group nor an array"),
    (lambda file: file.__setitem__("a", file["history/mean"]), "/history/mean occurs twice"),
    (lambda file: file.__setitem__("history/a", file["history"]), "/history/a occurs twice"),
    (lambda file: file.__setitem__("history/a", file["/"]), "/history/a occurs twice"),
    (lambda file: file.create_group("/".join("g" * 33)), "more than 32 groups are nested"),
    (lambda file: file.create_dataset("a", (2**40,), "f4"), "/a is too large for the file"),
    (
        lambda file: file.create_dataset("a", (2**40,), "f4", compression="gzip"),
        "/a is too large for the file",
    ),
    (lambda file: file.create_dataset("a", (2**62, 4), "f4", chunks=(1, 1)), "/a is too large for the file"),
    (zeros, "/a is too large for the file"),
    (lambda file: file.create_dataset("a", (3,), "f4", external=[("x", 0, 12)]), "/a is not in the file"),
    (virtual, "/a is not in the file"),
    (of_a_named_type, "/a is not an array of numbers"),
    (lambda file: file.create_dataset("a", (3,), "c16"), "/a is not an array of numbers"),
    (lambda file: file.create_dataset("a", data=["x"]), "/a is not an array of numbers"),
    (
        lambda file: file.create_dataset("a", (3,), [("x", "f8"), ("y", "i4")]),
        "/a is not an array of numbers",
    ),
    (lambda file: file.create_dataset("a", (3,), h5py.ref_dtype), "/a is not an array of numbers"),
    (lambda file: file.create_dataset("a", data=h5py.Empty("f8")), "/a is not an array of numbers"),
    (
        lambda file: file.attrs.__setitem__("a", np.zeros((2, 2))),
        "/a is not a number, a text or a list of them",
    ),
    (lambda file: file.attrs.__setitem__("a", 1j), "/a is not a number, a text or a list of them"),
    (
        lambda file: file.attrs.__setitem__("a", np.bytes_(b"x")),
        "/a is not a number, a text or a list of them",
    ),
    (lambda file: file.attrs.create("a", b"\xff", dtype=h5py.string_dtype()), "a text in /a is not UTF-8"),
]


@pytest.mark.parametrize(("change", "why"), REFUSED)
def test_what_no_run_writes_is_refused(tmp_path, monkeypatch, change, why):
    monkeypatch.chdir(tmp_path)

    def write(file):
        file["history/mean"] = np.arange(3.0)
        change(file)

    with pytest.raises(hdf5.Unfit) as caught:
        hdf5.read(image(write))
    assert str(caught.value).startswith(why)


@pytest.mark.parametrize("size", [0, 600, 2000])
def test_what_hdf5_cannot_read_is_refused_in_one_line(size):
    whole = image(lambda file: file.create_dataset("a", data=np.zeros(1000)))
    with pytest.raises(hdf5.Unfit, match="HDF5 cannot read it: OSError: ") as caught:
        hdf5.read(whole[:size])
    assert "\n" not in str(caught.value)


def test_other_threads_use_h5py_in_the_meantime(tmp_path):
    known, failed, over = (
        image(lambda file: file.create_dataset("a", data=np.zeros(3))),
        [],
        threading.Event(),
    )

    def write():
        while not over.is_set():
            try:
                with h5py.File(tmp_path / "other.h5", "w") as file:
                    file["a"] = np.ones(3)
            except OSError as error:
                failed.append(error)

    thread = threading.Thread(target=write)
    thread.start()
    for _ in range(100):
        assert hdf5.read(known)["a"].tolist() == [0, 0, 0]
    over.set()
    thread.join()
    assert failed == []
