import os
import signal
import time

import pytest

from mpi_es.parallel import watch, watchdog
from mpi_es.parallel.watch import Connection, Heartbeat
from tests.launching import LIMIT


@pytest.fixture
def connection():
    """A connection at whose other end nobody is."""
    connection = Connection(f"{os.getpid()}:0", b"\0no watchdog", None)
    token = watch._connection.set(connection)
    yield connection
    watch._connection.reset(token)


def read(connection):
    """Return time, timeout and text of a connection's slot."""
    text = connection.slot[watchdog.HEAD.size : watchdog.SLOT].rstrip(b"\0").decode()
    return *watchdog.HEAD.unpack_from(connection.slot), text


def test_a_sign_of_life_has_its_time_and_what_is_under_way(connection):
    before = time.monotonic()
    Heartbeat(7.0).write("candidate 3, episode seed 5")
    seconds, *rest = read(connection)
    assert before <= seconds <= time.monotonic()
    assert rest == [7.0, "candidate 3, episode seed 5"]


def test_a_rank_that_waits_has_no_time_and_a_long_text_stays_in_its_slot(connection):
    heartbeat = Heartbeat(7.0)
    heartbeat.write("x" * 10 * watchdog.SLOT)
    assert read(connection)[2] == "x" * (watchdog.SLOT - watchdog.HEAD.size)
    heartbeat.write("")
    assert read(connection) == (0, 7.0, "")


def test_the_watchdog_of_a_rank_that_is_alone_ends_with_the_heartbeat_in_silence(capfd):
    heartbeat = Heartbeat(LIMIT)
    assert heartbeat.connection.process.poll() is None
    heartbeat.end()
    assert heartbeat.connection.process.poll() == 0
    assert capfd.readouterr() == ("", "")


HANG = """
import time
from mpi_es.parallel.watch import Heartbeat
heartbeat = Heartbeat(0.1)
heartbeat.write("candidate 3")
time.sleep(1000)
"""


def test_a_rank_that_is_alone_and_hangs_is_killed(launch):
    done = launch(0, "-c", HANG)
    assert done.returncode == -signal.SIGKILL
