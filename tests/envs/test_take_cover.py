import importlib.util
from pathlib import Path

import numpy as np
import pytest

from mpi_es import envs
from mpi_es.envs import take_cover
from mpi_es.envs.take_cover import LEFT, RIGHT, STAY
from mpi_es.errors import UserError

DOOM = "mpi_es/TakeCover-v0"
doom = pytest.mark.skipif(not importlib.util.find_spec("vizdoom"), reason="vizdoom is not installed")


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


def test_without_vizdoom_its_package_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "vizdoom", None)
    with pytest.raises(UserError, match="mpi_es/TakeCover-v0 needs the package 'vizdoom': pip install it"):
        envs.make(DOOM)
