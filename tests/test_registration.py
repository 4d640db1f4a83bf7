import re
import sys
import tomllib

import gymnasium as gym

from mpi_es import registration
from mpi_es.extras import EXTRA_OF
from tests.launching import ROOT, call


def test_make_vec_finds_our_vector_and_still_makes_gymnasium_s():
    assert registration.WORLDS.keys() | registration.ENVIRONMENTS.keys() <= gym.registry.keys()
    for mode, kind in ((None, "CarRacingVectorEnv"), ("sync", "SyncVectorEnv")):
        env = gym.make_vec("mpi_es/CarRacing-v3", num_envs=2, vectorization_mode=mode)
        assert (type(env).__name__, env.num_envs) == (kind, 2)


def test_an_episode_ends_after_a_thousand_steps_and_registering_twice_changes_nothing():
    before = gym.spec("mpi_es/CyclicMDP-v0")
    registration.register()
    assert gym.spec("mpi_es/CyclicMDP-v0") is before
    assert before.max_episode_steps == 1000
    assert not any("_AfterGymnasium" in str(finder) for finder in sys.meta_path)


# All that the project depends on, but for what the simulator needs.
ALONE = """
import sys
from importlib.abc import MetaPathFinder


class Blocked(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in sys.argv[1:]:
            raise ModuleNotFoundError(f"{name} is not there", name=name)


sys.meta_path.insert(0, Blocked())
import gymnasium as gym
import mpi_es

car = gym.make("mpi_es/CarRacing-v3")
cars = gym.make_vec("mpi_es/CarRacing-v3", num_envs=2, threads=2)
for env in (car, cars):
    env.reset(seed=1)
    env.step(env.action_space.sample())
    env.close()
print("driven", sorted(set(sys.argv[1:]) & set(sys.modules)))
"""


def test_the_simulator_needs_gymnasium_numba_numpy_and_pygame_alone():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {re.split(r"[\[<>=]", requirement)[0] for requirement in project["dependencies"]}
    others = [*names - {"numpy"}, *(module for module, extra in EXTRA_OF.items() if extra != "sim")]
    assert {"mpi4py", "torch"} < set(others)
    done = call(sys.executable, "-c", ALONE, *others, "Box2D")
    assert done.stdout == "driven []\n", done.stderr
