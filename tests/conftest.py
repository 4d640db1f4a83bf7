"""What tests share: our programs under mpiexec, always with a time limit."""

import signal
import subprocess

import hypothesis
import pytest

from mpi_es.parallel.stop_signal import CAUGHT, LAUNCHER_LOST
from tests.launching import STARTED, complete, exact_content

# On a shared machine any example may take a second, by no fault of the code.
hypothesis.settings.register_profile("shared", deadline=None)
hypothesis.settings.load_profile("shared")

# Under nohup it is ignored, which programs that a test starts would inherit and obey.
signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(autouse=True)
def _own_signals():
    """Give signals back that a run in this process caught."""
    before = {number: signal.getsignal(number) for number in (*CAUGHT, LAUNCHER_LOST)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(autouse=True)
def _nothing_left_running():
    """Kill what a test that failed has started, lest it slow down all others."""
    yield
    for process in STARTED:
        if process.poll() is None:
            process.kill()
    STARTED.clear()


@pytest.fixture
def small_disk(tmp_path):
    """Return a function that gives this test's directory, or one in it, a disk of so many kilobytes."""
    mounted = []

    def mount(kilobytes: int, name: str = ""):
        path = tmp_path / name
        path.mkdir(exist_ok=True)
        command = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", path]
        if subprocess.run(command, stderr=subprocess.DEVNULL).returncode:
            pytest.skip("this user, or this container, may not mount a file system")
        mounted.append(path)

    yield mount
    for path in mounted:
        subprocess.run(["umount", path], check=True)


@pytest.fixture
def launch():
    """Return a function that runs `python …` on some ranks, 0 without mpiexec, and returns what came out."""
    return complete


@pytest.fixture
def exact():
    """Return a function that reads all of a run's file that must not depend on who ran it."""
    return exact_content


@pytest.fixture
def unwritable(tmp_path):
    """A directory that not even root can make."""
    (tmp_path / "file").touch()
    return tmp_path / "file" / "below"
