import socket
import time

import pytest

from mpi_es.run_file.run_status import Life, is_finished, stamp


def test_a_stamp_tells_when_where_and_why(monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "77")
    before = time.time()
    found = stamp("SIGTERM", rest=7.0)
    assert before <= found.saved <= time.time()
    assert found == Life(found.saved, socket.gethostname(), "77", "SIGTERM", finished=False, rest=7.0)


def test_a_reason_can_be_saved_whatever_a_user_s_error_says():
    assert stamp("a\0b\x1b\udc80é").reason == "a?b??é"


@pytest.mark.parametrize(
    ("content", "warning", "finished"),
    [
        (None, "", False),
        ({"life": vars(stamp())}, "", False),
        ({"life": vars(stamp("done", finished=True))}, "", True),
        ({"life": vars(stamp("done", finished=True))}, "damaged", False),
    ],
)
def test_a_run_is_finished_where_a_whole_file_says_so(content, warning, finished):
    assert is_finished(content, warning) == finished
