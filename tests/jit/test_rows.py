from typing import NamedTuple

import numpy as np

from mpi_es.jit.decorator import compiled
from mpi_es.jit.rows import repeat, row, rows, working_space


class Inner(NamedTuple):
    numbers: np.ndarray
    nothing: None


@working_space
class Space(NamedTuple):
    used: np.ndarray
    inner: Inner


class Outer(NamedTuple):
    inner: Inner
    space: Space
    flags: np.ndarray
    factor: int


@compiled()
def mark(several: Outer, i: int) -> float:
    one = row(several, i)
    one.flags[1] = i
    one.space.used[0] += 1
    one.space.inner.numbers[1] = i
    return one.factor * one.inner.numbers[1, 0]


def make() -> Outer:
    space = Space(np.zeros(1), Inner(np.zeros(2), None))
    several = repeat(Outer(Inner(np.zeros((2, 2)), None), space, np.zeros(3, np.uint8), 10), 4)
    several.inner.numbers[:] = np.arange(16).reshape(4, 2, 2)
    return several


def test_copies_have_an_axis_more():
    several = make()
    assert several.inner.numbers.shape == (4, 2, 2)
    assert (several.flags.shape, several.factor, several.inner.nothing) == ((4, 3), 10, None)


def test_a_row_is_a_view_in_python():
    several = make()
    row(several, 2).inner.numbers[0, 1] = -1
    assert several.inner.numbers[2, 0, 1] == -1


def test_a_row_is_the_same_view_in_compiled_code():
    several = make()
    assert [mark(several, i) for i in range(4)] == [
        10 * row(several, i).inner.numbers[1, 0] for i in range(4)
    ]
    assert several.flags[:, 1].tolist() == [0, 1, 2, 3]
    assert not several.flags[:, [0, 2]].any()


def test_all_rows_have_the_same_of_what_is_shared_and_another_part_has_its_own():
    several = make()
    part = rows(several, 1, 3)
    for i in range(4):
        for _ in range(100):  # a wrong count of references would end in a crash
            mark(several, i)
    mark(part, 1)
    assert (several.space.used[0], part.space.used[0]) == (400, 1)
    assert several.space.inner.numbers.tolist() == [0, 3]
    assert several.flags[:, 1].tolist() == [0, 1, 1, 3]
    assert row(several, 2).space is several.space
