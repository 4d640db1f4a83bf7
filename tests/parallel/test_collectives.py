import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpi_es.errors import UserError
from mpi_es.parallel.collective_errors import all_or_raise, on_root
from mpi_es.parallel.collectives import SerialComm, bcast_object, gather_rows, offsets, scatter_rows


@given(st.integers(0, 300), st.integers(1, 40), st.integers(0, 1), st.integers(1, 9))
def test_shares_cover_everything_once_and_evenly(count, ranks, first, block):
    first = min(first, ranks - 1)
    starts = offsets(count, ranks, first, block)
    shares = np.diff(starts)
    assert len(starts) == ranks + 1
    assert (starts[0], starts[-1]) == (0, count)
    assert not shares[:first].any()
    assert shares[first:].max() - shares[first:].min() <= 2 * block - 1
    assert all(start % block == 0 or start == count for start in starts)


def test_a_world_of_one_scatters_and_gathers():
    comm = SerialComm()
    share = np.empty((3, 2))
    scatter_rows(comm, np.arange(6.0).reshape(3, 2), [0, 3], share)
    gathered = gather_rows(comm, share, [3])
    np.testing.assert_array_equal(gathered, np.arange(6.0).reshape(3, 2))
    assert bcast_object(comm, {"a": 1}) == {"a": 1}


def test_a_mistake_is_raised_by_who_decides_and_by_who_agrees():
    def mistake():
        raise UserError("no")

    with pytest.raises(UserError, match="no"):
        on_root(SerialComm(), mistake)
    with pytest.raises(UserError, match="no"):
        all_or_raise(SerialComm(), mistake)
