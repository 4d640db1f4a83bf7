import gymnasium as gym
import pytest

from mpi_es.envs.car_racing import machine_code
from mpi_es.jit.listener import heard_by


@pytest.mark.parametrize(
    ("have", "make"), [("have_for_one", gym.make), ("have_for_several", gym.make_vec)], ids=["one", "several"]
)
def test_all_machine_code_is_there_after_the_first_reset(have, make):
    getattr(machine_code, have).cache_clear()  # other tests may have other pictures
    env = make("mpi_es/CarRacing-v3")
    env.reset(seed=1)
    assert getattr(machine_code, have).cache_info().currsize == 1
    with heard_by(lambda: pytest.fail("compiled")):
        env.step(env.action_space.sample())
        env.reset()
        getattr(machine_code, have).cache_clear()
        env.reset(seed=2)
