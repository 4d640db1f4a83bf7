from contextlib import suppress

import pytest

from mpi_es.config.run import configured
from mpi_es.telemetry.sinks import Telemetry, open_telemetry
from mpi_es.telemetry.view import view_of
from tests.telemetry.records import curves, report


class Closing:
    def __init__(self, closed):
        self.closed = closed

    def generation(self, numbers):
        return numbers.get("reason")

    def close(self):
        self.closed.append(self)


def test_an_exception_closes_every_sink():
    closed = []
    sinks = [Closing(closed), Closing(closed)]
    with suppress(ValueError), Telemetry(sinks):
        raise ValueError
    assert closed == sinks[::-1]


class Full:
    def close(self):
        raise OSError("disk full")


def test_what_ended_the_run_is_raised_and_else_what_a_close_met():
    with pytest.raises(ValueError, match="ended it"), Telemetry([Full()]):
        raise ValueError("ended it")
    with pytest.raises(OSError, match="disk full"), Telemetry([Full()]):
        pass


def test_any_sink_may_end_the_run():
    telemetry = Telemetry([Closing([]), Closing([])])
    assert telemetry.generation({}) == ""
    assert telemetry.generation({"reason": "enough"}) == "enough"


def test_without_sinks_it_is_silent(capfd):
    report(Telemetry())
    assert capfd.readouterr() == ("", "")


def opened(directory, **options):
    config = configured(**options)
    return open_telemetry(config, directory, view_of(config))


@pytest.mark.parametrize("console", ["auto", "live", "lines"])
def test_a_log_file_gets_lines(tmp_path, capfd, console):
    report(opened(tmp_path, console=console))
    written = capfd.readouterr().out
    assert written.startswith("a fact\n gen")
    assert "\x1b" not in written
    assert curves(tmp_path)["fitness/best"] == [(1, 10)]


def test_what_is_switched_off_is_not_written(tmp_path, capfd):
    report(opened(tmp_path, console="silent", tensorboard=False))
    assert capfd.readouterr().out == ""
    assert list(tmp_path.iterdir()) == []
