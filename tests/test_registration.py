import sys

import gymnasium as gym

from mpi_es import registration


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
