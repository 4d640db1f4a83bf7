import importlib
import os
import sys
from dataclasses import replace

import numpy as np
import pytest

from mpi_es import envs
from mpi_es.config.run import configured
from mpi_es.errors import RolloutError, UserError
from mpi_es.evaluation import build
from mpi_es.evaluation.compiled.rollout import CompiledRollout
from mpi_es.evaluation.rollout import Episode, EpisodeRules
from mpi_es.evaluation.sources import StaticSource
from tests.launching import call

HERE = "tests.worlds.user_worlds"


def source(rollout):
    rows = np.random.default_rng(0).normal(0, 1, (5, rollout.policy.dim)).astype(np.float32)
    return StaticSource(Episode(i, i, 100 + i, row) for i, row in enumerate(rows))


@pytest.mark.parametrize("name", ["Numbers", "Together", "Square"])
def test_its_episodes_are_compiled_and_those_of_the_ordinary_path_to_the_bit(name):
    config = configured(env=f"{HERE}:{name}", hidden=(4,))
    fast, plain = (build.make_rollout(replace(config, compiled=kind)) for kind in (True, False))
    assert isinstance(fast, CompiledRollout)
    assert (fast.limit, plain.limit) == (9, 9)
    assert fast.steps_together == (name == "Together")
    np.testing.assert_array_equal(
        fast.run(source(fast), EpisodeRules()), plain.run(source(plain), EpisodeRules(), 1)
    )


def test_an_exception_names_the_episode():
    rollout = build.make_rollout(configured(env=f"{HERE}:Failing", hidden=(4,)))
    with pytest.raises(RolloutError, match="candidate 0, episode seed 100, step 0: ValueError: no such"):
        rollout.run(source(rollout), EpisodeRules())
    with pytest.raises(RolloutError, match="candidate 0, episode seed 0, step 0: ValueError: no such"):
        rollout.compile()


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("Interpreted", "world: expected step decorated with numba.njit, got <function"),
        ("OfTheClass", "world: .* got <bound method .*; set self.step = step in the constructor"),
        ("Scratchless", r"world: expected scratch\(\), .* of step_lanes, got .* it has none"),
        ("Silent", r"world: expected tell\(state, out\), which writes the facts, .* it has none"),
        ("Halved", "got '.*:Halved'; it has no observe"),
        ("Freshless", "got '.*:Freshless'; it has no fresh"),
        ("Logical", "an array of these as taken in fresh, got 'bool'; np.int8 holds true and false"),
        ("Listed", "world: expected fresh from mpi_es.worlds.record"),
        ("Wordy", "world: expected a Box as observation_space, got Text"),
        ("Coarse", "world: expected a Discrete or a Box .* as action_space, got Box"),
        ("Spelt", r"world: expected a tuple of names as facts, got 'won'; \('won',\) holds one"),
        ("Endless", "world: expected a whole number from 0 as limit, got None"),
    ],
)
def test_what_cannot_be_a_world_is_refused(name, error):
    with pytest.raises(UserError, match=error):
        envs.make(f"{HERE}:{name}")


@pytest.mark.parametrize("name", ["Drawn", "make_drawn"])
def test_it_draws_its_own_pictures(name):
    env, _ = envs.make(f"{HERE}:{name}", render_mode="rgb_array")
    env.reset(seed=7)
    assert env.render()[0, 0].tolist() == [7, 7, 7]


def test_one_of_ours_may_be_changed():
    env, _ = envs.make(f"{HERE}:Lander")
    theirs, _ = envs.make("mpi_es/LunarLander-v3")
    np.testing.assert_array_equal(env.reset(seed=7)[0], theirs.reset(seed=7)[0])
    assert env.step(2)[1] == theirs.step(2)[1] + 1


def test_one_whose_state_is_no_record_is_made():
    env, limit = envs.make("mpi_es.worlds.car_racing.world:CarRacing")
    assert (env.reset(seed=7)[0].shape, limit) == ((96, 96, 3), 1000)


def test_one_that_draws_nothing_says_what_is_missing():
    with pytest.raises(UserError, match=r"expected none, got 'rgb_array'; a world needs metadata and window"):
        envs.make(f"{HERE}:Numbers", render_mode="rgb_array")


WORLD = """
import numba
import numpy as np
from gymnasium import spaces
from mpi_es.worlds import record
class One:
    limit = 3
    observation_space = spaces.Box(-9, 9, (1,), np.float32)
    action_space = spaces.Discrete(2)
    def __init__(self):
        self.fresh = record(number=0.0)
        self.reset, self.step, self.observe = reset, step, observe
@numba.njit
def reset(state, seed): state.number = 0.0
@numba.njit
def step(state, action): return {}, False
@numba.njit
def observe(state, out): out[0] = state.number
"""
PLAY = """
import numpy as np
from mpi_es.config.run import configured
from mpi_es.evaluation import build
from mpi_es.evaluation.rollout import Episode, EpisodeRules
from mpi_es.evaluation.sources import StaticSource
rollout = build.make_rollout(configured(env="one_world:One", hidden=()))
row = np.zeros(rollout.policy.dim, np.float32)
rows = rollout.run(StaticSource([Episode(0, 0, 1, row)]), EpisodeRules())
print(rows[0, 1], sum(rollout._play.entry.stats.cache_hits.values()))
"""


def test_its_machine_code_is_kept_until_it_changes(tmp_path):
    environ = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    found = []
    for reward in (1.0, 1.0, 2.0):
        (tmp_path / "one_world.py").write_text(WORLD.format(reward))
        done = call(sys.executable, "-c", PLAY, cwd=tmp_path, env=environ)
        assert done.returncode == 0, done.stderr
        found.append(done.stdout.split())
    assert found == [["3.0", "0"], ["3.0", "1"], ["6.0", "0"]]


KINDS = """
import sys
import numba
import numpy as np
from gymnasium import spaces
from mpi_es.worlds import WorldEnv, record

@numba.njit
def double(x):
    return 2 * x

@numba.njit
def halve(x):
    return x / 2

def moved_by(kind):
    move = double if kind == "double" else halve
    if kind == "seven":
        @numba.njit
        def step(state, action):
            state.place -= 7.0
            return state.place, False
    else:
        @numba.njit
        def step(state, action):
            state.place = move(state.place)
            return state.place, False
    return step

@numba.njit
def reset(state, seed):
    state.place = 1.0

@numba.njit
def observe(state, out):
    out[0] = state.place

class Walk:
    observation_space = spaces.Box(-np.inf, np.inf, (1,), np.float32)
    action_space = spaces.Discrete(2)
    limit = 9

    def __init__(self, kind):
        self.fresh = record(place=0.0)
        self.reset, self.step, self.observe = reset, moved_by(kind), observe

for kind in sys.argv[1:]:
    env = WorldEnv(Walk(kind))
    env.reset(seed=1)
    print(env.step(0)[1])
"""


def test_steps_of_one_name_are_told_apart_also_in_code_that_was_kept(tmp_path):
    (tmp_path / "kinds.py").write_text(KINDS)
    environ = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def rewards(*kinds):
        done = call(sys.executable, "kinds.py", *kinds, cwd=tmp_path, env=environ)
        return done.stdout.split(), done.stderr

    assert rewards("double", "seven", "halve")[0] == ["2.0", "-6.0", "0.5"]
    kept = {path for path in tmp_path.rglob("*.nbc")}
    assert rewards("halve", "double", "seven") == (["0.5", "2.0", "-6.0"], "")
    assert {path for path in tmp_path.rglob("*.nbc")} == kept
    (tmp_path / "kinds.py").write_text(KINDS.replace("2 * x", "3 * x"))
    assert rewards("double")[0] == ["3.0"]


def test_a_world_that_is_reloaded_has_its_new_functions(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "argv", ["", "double"])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # its times have seconds
    (tmp_path / "reloaded_world.py").write_text(KINDS)
    world = importlib.import_module("reloaded_world")
    (tmp_path / "reloaded_world.py").write_text(KINDS.replace("2 * x", "3 * x"))
    importlib.reload(world)
    assert world.env.step(0)[1] == 9.0
    monkeypatch.delitem(sys.modules, "reloaded_world")
