import threading

import pytest

from mpi_es.worlds.shares import Shares


@pytest.mark.parametrize(("count", "threads"), [(7, 3), (2, 5), (4, 1)])
def test_every_environment_is_in_one_share(count, threads):
    shares, seen, names = Shares(count, threads), [], set()

    def work(first, last, thread):
        seen.extend(range(first, last))
        names.add(thread)

    shares.run(work)
    shares.close()
    assert sorted(seen) == list(range(count))
    shares.close()
    shares.run(work)  # with threads of its own
    shares.close()
    assert len(seen) == 2 * count
    assert names == set(range(min(count, threads)))


def test_an_error_in_a_share_is_raised_when_all_are_over():
    shares, over = Shares(2, 2), threading.Event()

    def work(first, last, thread):
        if thread == 1:
            over.set()
            raise ArithmeticError("undefined")
        assert over.wait(30)

    with pytest.raises(ArithmeticError, match="undefined"):
        shares.run(work)
    shares.close()
