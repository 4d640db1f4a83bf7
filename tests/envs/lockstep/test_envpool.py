import importlib.util
import re

import numpy as np
import pytest

from mpi_es.envs.lockstep.envpool import EnvPool, maker
from mpi_es.errors import UserError
from mpi_es.extras import needs

pytestmark = pytest.mark.skipif(not importlib.util.find_spec("envpool"), reason="envpool is not installed")


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("CartPole-v9", (), "--env: expected an id of envpool, got 'CartPole-v9'; did you mean 'CartPole-v"),
        ("CartPole-v1", ("gravity=1",), "--env: envpool:CartPole-v1 cannot be made: "),
    ],
)
def test_a_mistake_is_one_line(name, options, words):
    with pytest.raises(UserError) as raised:
        EnvPool(name, options)
    assert str(raised.value).startswith(words)
    assert "\n" not in str(raised.value)


def test_without_envpool_its_package_is_named(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=rf"envpool:CartPole-v1 {re.escape(needs('envpool'))}"):
        maker("CartPole-v1", ())


def test_options_and_the_step_limit_are_envpool_s():
    assert EnvPool("Pendulum-v1", ()).limit == 200
    batch = EnvPool("Pendulum-v1", ("max_episode_steps=3",))
    places, _ = batch.begin([1, 2])
    ends = [batch.step(places, np.zeros((2, 1)))[2].tolist() for _ in range(3)]
    assert (batch.limit, ends) == (3, [[False] * 2, [False] * 2, [True] * 2])


def test_a_pool_is_closed_when_its_last_episode_is_over():
    batch = EnvPool("CartPole-v1", ())
    first, _ = batch.begin([1, 2])
    batch.begin([3])
    batch.end(first[:1])
    assert len(batch._pools) == 2
    batch.end(first[1:])
    assert len(batch._pools) == 1
    batch.clear()
    assert not batch._pools
