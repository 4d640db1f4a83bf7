import time

import pytest

from mpi_es.parallel.waiting import wait


class Later:
    """A request that is complete after some tests."""

    def __init__(self, tests):
        self.tests = tests

    def Test(self):  # noqa: N802
        self.tests -= 1
        return self.tests <= 0


def test_waiting_burns_no_core():
    class AfterHalfASecond:
        end = time.perf_counter() + 0.5

        def Test(self):  # noqa: N802
            return time.perf_counter() > self.end

    begin = time.process_time()
    assert wait(AfterHalfASecond()) >= 0.4
    assert time.process_time() - begin < 0.1


def test_what_is_there_already_costs_no_sleep(monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("slept"))
    wait(Later(3))
