import time

import pytest

from mpi_es.run_file import checkpoint
from mpi_es.run_file.saver import Saver
from tests.run_file import bases


@pytest.fixture
def clock(monkeypatch):
    """A clock that a test sets."""
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_a_save_is_due_at_first_and_when_the_interval_is_over(tmp_path, clock):
    saver = Saver(tmp_path, 5.0)
    assert saver.is_due
    saver.save({})
    clock[0] += 4.9
    assert not saver.is_due
    clock[0] += 0.2
    assert saver.is_due


def test_a_save_is_always_due_without_an_interval(tmp_path, clock):
    saver = Saver(tmp_path, 0.0)
    saver.save({})
    assert saver.is_due


def test_saving_takes_at_most_2_percent_of_the_time(tmp_path, clock, monkeypatch):
    def slow(*_):
        clock[0] += 2.0

    monkeypatch.setattr(checkpoint, "save", slow)
    saver = Saver(tmp_path, 5.0)
    saver.save({})
    assert saver.seconds == 2.0
    clock[0] += 5.0
    assert saver.is_due  # as the file says, whose save was the first
    saver.save({})
    clock[0] += 97.9
    assert not saver.is_due
    clock[0] += 0.2
    assert saver.is_due


def test_a_save_says_why_the_run_stops_and_when_the_next_one_follows(tmp_path):
    saver = Saver(tmp_path, 5.0)
    saver.save({}, "stopped by SIGTERM")
    life = bases.read(tmp_path)["life"]
    assert (life["reason"], life["finished"], life["rest"]) == ("stopped by SIGTERM", False, 5.0)
    saver.save({}, "last generation done", finished=True)
    assert bases.read(tmp_path)["life"]["finished"]
