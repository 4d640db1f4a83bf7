import io

import pytest

from mpi_es.config.run import configured
from mpi_es.telemetry.sinks import Telemetry, open_telemetry
from tests.telemetry.records import curves, report


def test_without_sinks_it_is_silent(capfd):
    report(Telemetry())
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("console", ["auto", "live", "lines"])
def test_a_log_file_gets_lines(tmp_path, console):
    stream = io.StringIO()
    report(open_telemetry(configured(console=console), tmp_path, stream))
    assert stream.getvalue().startswith("a fact\n gen")
    assert "\x1b" not in stream.getvalue()
    assert curves(tmp_path)["fitness/best"] == [(1, 10)]


def test_what_is_switched_off_is_not_written(tmp_path):
    stream = io.StringIO()
    report(open_telemetry(configured(console="silent", tensorboard=False), tmp_path, stream))
    assert stream.getvalue() == ""
    assert list(tmp_path.iterdir()) == []
