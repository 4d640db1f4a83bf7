import numpy as np
import pytest

from mpi_es.errors import UserError
from pbt.packing import pack, unpack

STATE = {
    "weights": np.arange(6, dtype=np.float32).reshape(2, 3),
    "count": 3,
    "scalar": np.array(2.5),
    "empty": np.zeros((0, 4)),
    "flags": np.array([True, False, True]),
    "rate": 0.1,
    "name": "adam",
    "nan": np.array([np.nan]),
}


def test_a_state_unpacked_from_its_buffer_is_bit_identical():
    buffer = pack(STATE)
    assert (buffer.dtype, buffer.ndim) == (np.uint8, 1)
    back = unpack(buffer)
    assert list(back) == list(STATE)
    for name, value in STATE.items():
        if isinstance(value, np.ndarray):
            assert (back[name].dtype, back[name].shape) == (value.dtype, value.shape)
            assert back[name].tobytes() == value.tobytes()
        else:
            assert (type(back[name]), back[name]) == (type(value), value)


def test_arrays_may_be_written_to_and_share_nothing():
    fixed = np.frombuffer(bytes(8), np.float64)
    back = unpack(pack({"one": fixed, "two": fixed}))
    back["one"] += 1
    assert back["two"] == 0


def test_equal_states_have_equal_buffers():
    assert pack(STATE).tobytes() == pack(unpack(pack(STATE))).tobytes()


def test_an_unpacked_state_does_not_share_memory_with_the_buffer():
    buffer = pack(STATE)
    unpack(buffer)["weights"][:] = 9
    assert unpack(buffer)["weights"][0, 1] == 1


@pytest.mark.parametrize("value", [object(), np.float32(1), np.int64(1), [1, 2], {"deep": 1}, None])
def test_values_other_than_arrays_numbers_and_texts_are_refused(value):
    with pytest.raises(UserError, match=r"state/odd: expected (an array|arrays) of numbers, .*, got"):
        pack({"odd": value})


@pytest.mark.parametrize("value", [np.ones((2, 3)).T, np.ones(6)[::2]])
def test_an_array_in_another_order_than_c_is_refused_since_a_file_would_not_restore_it(value):
    with pytest.raises(UserError, match="state/odd: expected an array in C order"):
        pack({"odd": value})


def test_an_empty_state_is_refused():
    with pytest.raises(UserError, match="state: expected an array, a number or a text at least"):
        pack({})


def test_a_state_that_no_file_holds_is_refused():
    message = r"state: expected names that are texts without '/', and not '\.', got 'a/b'"
    with pytest.raises(UserError, match=message):
        pack({"a/b": np.ones(2)})
