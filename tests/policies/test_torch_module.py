import numpy as np
from gymnasium import spaces

from mpi_es.config.run import Config
from mpi_es.policies import make

HERE = "tests.policies.user_policies"


def test_buffers_are_the_same_in_every_module_of_a_policy():
    picture = spaces.Box(0, 255, (16, 16, 3), np.uint8)
    policy = make(Config(policy=f"{HERE}:Pictures"), picture, spaces.Discrete(2))
    assert policy.module().scale == policy.module().scale
    again = make(Config(policy=f"{HERE}:Pictures"), picture, spaces.Discrete(2))
    assert policy.module().scale == again.module().scale
