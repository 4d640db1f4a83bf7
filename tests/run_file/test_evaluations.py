import numpy as np

from mpi_es.run_file import evaluations
from mpi_es.run_file.records import HeldOut


def test_evaluations_of_different_lengths_are_stored_as_one_array():
    held_out = [HeldOut(2, np.array([1.0, 2.0, 3.0])), HeldOut(4, np.array([5.0]))]
    content = evaluations.content(held_out)
    assert content["generation"].tolist() == [2, 4]
    assert np.isnan(content["returns"]).tolist() == [[False] * 3, [False, True, True]]
    back = evaluations.read(content)
    assert [(one.generation, one.returns.tolist()) for one in back] == [(2, [1, 2, 3]), (4, [5])]


def test_no_evaluations_are_stored_as_empty_arrays():
    content = evaluations.content([])
    assert (content["generation"].shape, content["returns"].shape) == ((0,), (0, 0))
    assert evaluations.read(content) == []
