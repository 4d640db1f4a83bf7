import mmap
import struct
import time

import pytest

from mpi_es.parallel import hang_killer
from mpi_es.parallel.heartbeat import Heartbeat


@pytest.fixture
def table():
    with mmap.mmap(-1, 3 * hang_killer.SLOT) as table:
        yield table


def read(table, place):
    """Return time and text of a rank's slot."""
    slot = table[place * hang_killer.SLOT : (place + 1) * hang_killer.SLOT]
    (seconds,) = struct.unpack(hang_killer.HEAD.format, slot[: hang_killer.HEAD.size])
    return seconds, slot[hang_killer.HEAD.size :].rstrip(b"\0").decode()


def test_a_sign_of_life_has_its_time_and_what_is_under_way(table):
    before = time.monotonic()
    Heartbeat(table, 1).write("candidate 3, episode seed 5")
    seconds, text = read(table, 1)
    assert before <= seconds <= time.monotonic()
    assert text == "candidate 3, episode seed 5"
    assert read(table, 0) == read(table, 2) == (0, "")


def test_a_rank_that_waits_has_no_time_and_a_long_text_stays_in_its_slot(table):
    rank = Heartbeat(table, 1)
    rank.write("x" * 10 * hang_killer.SLOT)
    assert read(table, 1)[1] == "x" * (hang_killer.SLOT - hang_killer.HEAD.size)
    rank.write("")
    assert [read(table, place) for place in range(3)] == [(0, "")] * 3
