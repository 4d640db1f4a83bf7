import signal

import pytest

from mpi_es.parallel.stop_signal import CAUGHT, StopFlag, ignore


@pytest.fixture(autouse=True)
def handlers():
    """Leave the process's own handlers as they were."""
    before = {number: signal.getsignal(number) for number in CAUGHT}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", CAUGHT)
def test_a_signal_is_noted_with_its_name(number):
    flag = StopFlag().install()
    assert not flag
    signal.raise_signal(number)
    assert (bool(flag), flag.name) == (True, number.name)


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


def test_ignored_signals_leave_no_trace():
    flag = StopFlag().install()
    ignore()
    signal.raise_signal(signal.SIGTERM)
    assert not flag
