import multiprocessing
import signal
import time

import pytest

from mpi_es.parallel.stop_signal import CAUGHT, LAUNCHER_LOST, StopFlag, ignore, keep_hang_up


@pytest.mark.parametrize("number", CAUGHT)
def test_a_signal_is_noted_with_its_name(number):
    flag = StopFlag().install()
    assert not flag
    signal.raise_signal(number)
    assert (bool(flag), flag.name) == (True, number.name)


@pytest.mark.parametrize(
    "numbers", [(signal.SIGTERM, signal.SIGUSR1), (signal.SIGUSR1, signal.SIGTERM)], ids=["first", "last"]
)
def test_the_signal_by_which_job_scripts_pass_others_on_hides_none(numbers):
    flag = StopFlag().install()
    for number in numbers:
        signal.raise_signal(number)
    assert flag.name == "SIGTERM"


def test_a_second_ctrl_c_ends_the_process():
    flag = StopFlag().install()
    signal.raise_signal(signal.SIGINT)
    with pytest.MonkeyPatch.context() as patch:
        raised = []
        patch.setattr(signal, "raise_signal", raised.append)
        flag._note(signal.SIGINT, None)
    assert raised == [signal.SIGINT]
    assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL


def test_a_signal_is_not_lost_between_two_flags():
    first = StopFlag().install()
    signal.raise_signal(signal.SIGUSR1)
    assert (first.name, StopFlag().install().name) == ("SIGUSR1", "SIGUSR1")


def test_a_signal_ends_a_fork():
    flag = StopFlag().install()
    worker = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,))
    worker.start()
    worker.terminate()
    worker.join(30)
    assert (worker.exitcode, bool(flag)) == (-signal.SIGTERM, False)


def test_ignored_signals_leave_no_trace():
    flag = StopFlag().install()
    ignore()
    signal.raise_signal(signal.SIGTERM)
    assert not flag


def test_the_end_of_the_launcher_is_noted_in_words():
    flag = StopFlag().install()
    signal.raise_signal(LAUNCHER_LOST)
    assert flag.name == "the end of its launcher"


def test_a_hang_up_that_is_ignored_from_the_start_stays_so():
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    flag = StopFlag().install()
    keep_hang_up()
    signal.raise_signal(signal.SIGHUP)
    assert not flag
