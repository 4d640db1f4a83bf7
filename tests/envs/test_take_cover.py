import importlib.util
import os
import re
import select
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mpi_es import envs
from mpi_es.envs import take_cover
from mpi_es.envs.take_cover import LEFT, RIGHT, STAY
from mpi_es.errors import UserError
from mpi_es.extras import needs
from mpi_es.parallel import stop_signal
from tests.launching import LIMIT

DOOM = "mpi_es/TakeCover-v0"
doom = pytest.mark.skipif(not importlib.util.find_spec("vizdoom"), reason="vizdoom is not installed")
BEGUN = "from mpi_es.envs.take_cover import TakeCover; env = TakeCover(); env.reset(seed=1)"
linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@doom
def test_the_action_s_thirds_are_left_stay_and_right():
    env, limit = envs.make(DOOM)
    assert limit == 2100
    after = {}
    for wish in (-1.0, -0.3, 0.3, 1.0):
        env.reset(seed=3)
        for _ in range(12):
            after[wish], reward, *_ = env.step(np.array([wish], np.float32))
        assert reward == 1.0
    env.close()
    assert (after[-0.3] == after[0.3]).all()
    assert (after[-1.0] != after[0.3]).any()
    assert (after[1.0] != after[-1.0]).any()


@doom
def test_the_actions_are_vizdoom_s():
    game = take_cover.TakeCover()._game
    names = [button.name for button in game.game.get_available_buttons()]
    pressed = {wish: np.flatnonzero(game.button_map[wish]) for wish in (STAY, LEFT, RIGHT)}
    game.close()
    assert {wish: [names[i] for i in pressed[wish]] for wish in pressed} == {
        STAY: [],
        LEFT: ["MOVE_LEFT"],
        RIGHT: ["MOVE_RIGHT"],
    }


@doom
def test_vizdoom_s_settings_are_each_game_s_own_and_end_with_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    games = [take_cover.TakeCover(), take_cover.TakeCover()]
    directories = [Path(game._directory.name) for game in games]
    assert directories[0] != directories[1]
    assert all(directory.exists() for directory in directories)
    for game in games:
        game.close()
    assert not any(directory.exists() for directory in directories)
    assert not (tmp_path / "_vizdoom.ini").exists()


def children(process):
    """Return the processes that a process has begun."""
    listed = Path(f"/proc/{process}/task").glob("*/children")
    return [int(child) for path in listed for child in path.read_text().split()]


@doom
@linux
@pytest.mark.parametrize("number", stop_signal.CAUGHT)
def test_a_signal_to_the_whole_job_leaves_doom_alone(number):
    env = take_cover.TakeCover()
    env.reset(seed=1)
    doom = next(child for child in children(os.getpid()) if "vizdoom" in command_of(child))
    os.kill(doom, number)
    for _ in range(5):
        env.step(np.zeros(1, np.float32))
    env.close()
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == set()


@doom
@linux
def test_doom_ends_with_a_rank_that_is_killed():
    program = f"{BEGUN}; print(); input()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as rank:
        rank.stdout.readline()
        (doom,) = children(rank.pid)
        handle = os.pidfd_open(doom)
        rank.kill()
    assert select.select([handle], [], [], LIMIT)[0]
    os.close(handle)


@doom
def test_the_end_of_a_program_that_closes_nothing_is_silent():
    done = subprocess.run([sys.executable, "-c", BEGUN], capture_output=True, timeout=LIMIT, check=True)
    assert done.stdout + done.stderr == b""


def command_of(process):
    """Return a process's command line."""
    return Path(f"/proc/{process}/cmdline").read_text()


def test_without_vizdoom_its_package_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "vizdoom", None)
    with pytest.raises(UserError, match=rf"mpi_es/TakeCover-v0 {re.escape(needs('vizdoom'))}"):
        envs.make(DOOM)
