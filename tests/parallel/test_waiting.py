import time

import pytest

from mpi_es.parallel.waiting import saying_after, wait


class Later:
    """A request that is complete after some tests."""

    def __init__(self, tests):
        self.tests = tests

    def Test(self):  # noqa: N802
        self.tests -= 1
        return self.tests <= 0


def test_who_waits_long_wakes_seldom_and_burns_no_core(monkeypatch):
    clock, pauses = [0.0], []

    def sleep(seconds):
        clock[0] += seconds
        pauses.append(seconds)

    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(time, "sleep", sleep)
    assert wait(Later(500)) == pytest.approx(sum(pauses))
    assert len(pauses) == 500 - 50 - 1
    assert pauses == sorted(pauses)
    assert (pauses[0], pauses[-1]) == (1e-5, 1e-2)


def test_what_is_there_already_costs_no_sleep(monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("slept"))
    wait(Later(3))


@pytest.mark.parametrize(("seconds", "said"), [(0.0, ["late"]), (60.0, [])])
def test_a_remark_is_made_only_where_the_block_takes_longer(seconds, said):
    heard = []
    with saying_after(seconds, heard.append, "late"):
        deadline = time.monotonic() + 30
        while heard != said and time.monotonic() < deadline:
            time.sleep(0.01)
    assert heard == said
