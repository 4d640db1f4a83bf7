import io
from contextlib import suppress

import pytest

from mpi_es.telemetry.all_sinks import AllSinks, console_sinks


class Closing:
    def __init__(self, closed):
        self.closed = closed

    def close(self):
        self.closed.append(self)


def test_an_exception_closes_every_sink():
    closed = []
    sinks = [Closing(closed), Closing(closed)]
    with suppress(ValueError), AllSinks(sinks) as telemetry:
        assert list(telemetry) == sinks
        raise ValueError
    assert closed == sinks[::-1]


class Full:
    def close(self):
        raise OSError("disk full")


def test_what_ended_the_run_is_raised_and_else_what_a_close_met():
    with pytest.raises(ValueError, match="ended it"), AllSinks([Full()]):
        raise ValueError("ended it")
    with pytest.raises(OSError, match="disk full"), AllSinks([Full()]):
        pass


@pytest.mark.parametrize(("choice", "count"), [("auto", 1), ("live", 1), ("lines", 1), ("silent", 0)])
def test_the_console_shows_lines_where_there_is_no_terminal(choice, count):
    stream = io.StringIO()
    sinks = console_sinks(choice, stream, lambda _: pytest.fail("no terminal"), lambda out: ("lines", out))
    assert sinks == [("lines", stream)] * count
