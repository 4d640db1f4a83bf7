import numpy as np
import pytest

from mpi_es.papers.parameter_order import arranged, from_torch, to_torch

SHAPES = {
    "attention.q.weight": (4, 147),
    "attention.q.bias": (4,),
    "attention.k.weight": (4, 147),
    "attention.k.bias": (4,),
    "controller.cell.weight_ih_l0": (64, 20),
    "controller.cell.weight_hh_l0": (64, 16),
    "controller.cell.bias_ih_l0": (64,),
    "controller.cell.bias_hh_l0": (64,),
    "controller.fc.weight": (3, 16),
    "controller.fc.bias": (3,),
}
SMALL = {"q.weight": (2, 3), "q.bias": (2,), "fc.weight": (1, 2), "fc.bias": (1,)}


def test_the_paper_sorts_the_names_in_each_layer():
    ends = np.cumsum([np.prod(shape) for shape in arranged(SHAPES, "paper").values()])
    assert ends.tolist() == [4, 592, 596, 1184, 1248, 1312, 2336, 3616, 3619, 3667]


def test_numbers_move_with_their_names():
    torch_order = np.arange(11, dtype=np.float32)
    paper = from_torch(torch_order, SMALL, "paper")
    assert paper.tolist() == [6, 7, 0, 1, 2, 3, 4, 5, 10, 8, 9]
    assert to_torch(paper, SMALL, "paper").tolist() == torch_order.tolist()


@pytest.mark.parametrize("change", [from_torch, to_torch])
def test_torch_s_own_order_is_kept(change):
    numbers = np.arange(3667, dtype=np.float32)
    np.testing.assert_array_equal(change(numbers, SHAPES, "torch"), numbers)
