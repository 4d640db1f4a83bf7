import numpy as np
import pytest

from mpi_es.errors import UserError
from mpi_es.run_file import checkpoint
from mpi_es.run_file.storable import check_storable
from tests.run_file import bases

GOOD = {"a": np.zeros((2, 0)), "b": {"c": np.int64(3), "d": "ö", "e": {}}, "f": -(2**63), "g": np.True_}


def test_what_is_accepted_is_given_back_by_a_file(tmp_path):
    check_storable(GOOD, "state")
    checkpoint.save(tmp_path, {"state": GOOD})
    read = bases.read(tmp_path)["state"]
    np.testing.assert_equal(read, GOOD)


@pytest.mark.parametrize(
    ("state", "why"),
    [
        ({"a": [1, 2]}, "state/a: expected arrays of numbers, numbers, texts and dicts of these, got 'list'"),
        ({"a": None}, "state/a: expected arrays .*, got 'NoneType'"),
        ({"a": np.float32(1)}, "state/a: expected arrays .*, got 'float32'"),
        ({"a": np.array(["x"])}, "state/a: expected arrays .*, got 'an array of <U1'"),
        ({"a": {"b": 2**63}}, "state/a/b: expected arrays .*, got 'an integer of more than 64 bits'"),
        ({"a": "x\0"}, "state/a: expected arrays .*, got 'a text with NUL"),
        ({"a": "\ud800"}, "state/a: expected arrays .*, got 'a text with NUL"),
        ({"": 1}, "state: expected names that are texts without '/', and not '.', got ''"),
        ({"a": {"b/c": 1}}, "state/a: expected names that are texts without '/', and not '.', got 'b/c'"),
        ({"a\0b": 1}, "state: expected names that are texts"),
        ({".": 1}, "state: expected names that are texts without '/', and not '.', got '.'"),
        ({1: 1}, "state: expected names that are texts without '/', and not '.', got 1"),
    ],
)
def test_what_no_file_gives_back_is_refused(state, why):
    with pytest.raises(UserError, match=why):
        check_storable(state, "state")
