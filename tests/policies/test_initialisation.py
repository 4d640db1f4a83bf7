"""Layers begin as torch begins them where it rounds once, without torch."""

import numpy as np
import pytest
import torch
from gymnasium import spaces

from mpi_es import envs, policies
from mpi_es.config.parts import changed
from mpi_es.config.run import configured
from mpi_es.errors import UserError
from mpi_es.policies import initialisation, networks

ONE_ROUNDING = torch.backends.cpu.get_cpu_capability() != "DEFAULT"


@pytest.mark.skipif(not ONE_ROUNDING, reason="torch rounds twice on this processor")
@pytest.mark.parametrize("seed", [0, 1, 12345])
@pytest.mark.parametrize(
    ("env", "options"),
    [
        ("CartPole-v1", {"policy": "mlp", "hidden": ()}),
        ("LunarLander-v3", {"policy": "mlp", "hidden": (64, 3, 200)}),
        ("CartPole-v1", {"policy": "rnn", "hidden": (5,), "activation": "relu"}),
        ("CartPole-v1", {"policy": "lstm", "hidden": (16,)}),
        ("CartPole-v1", {"policy": "gru", "hidden": (7,)}),
        ("mpi_es/CarRacing-v3", {"policy": "attention", "hidden": (16,)}),
        ("mpi_es/CarRacing-v3", {"policy": "attention", "hidden": (16,), "bias": False, "query_dim": 3}),
        (
            "mpi_es/CarRacing-v3",
            {"policy": "attention", "hidden": (16,), "controller": "mlp", "num_frames": 2},
        ),
    ],
)
def test_a_policy_begins_with_what_torch_draws(env, options, seed):
    made, _ = envs.make(env)
    policy = policies.make(configured(env=env, **options), made.observation_space, made.action_space)
    drawn = networks.flat(networks.seeded(policy.module, seed))
    np.testing.assert_array_equal(policy.initial(seed), drawn)
    assert policy.initial(seed).dtype == np.float32


def test_every_processor_draws_the_same():
    drawn = initialisation.draw(3, [*initialisation.linear(4, 3), *initialisation.recurrent(4, 3, 2)])
    assert drawn.tobytes().hex()[:48] == "b0e58ebdd44b97bee830d43d208faebe40585cbcec51333e"
    assert len(drawn) == 15 + 24 + 16 + 8 + 8


@pytest.mark.parametrize("policy", ["mlp", "rnn", "lstm", "gru"])
def test_the_last_layer_alone_can_begin_smaller(policy):
    made, _ = envs.make("CartPole-v1")
    config = configured(policy=policy, hidden=(5,))

    def initial(scale):
        scaled = changed(config, init_last_layer=scale)
        return policies.make(scaled, made.observation_space, made.action_space).initial(3)

    last = 2 * 5 + 2
    np.testing.assert_array_equal(initial(0.1)[:-last], initial(1.0)[:-last])
    np.testing.assert_allclose(initial(0.1)[-last:], 0.1 * initial(1.0)[-last:], rtol=1e-5)
    assert not initial(0.0)[-last:].any()


def test_a_linear_policy_can_begin_at_zero():
    made, _ = envs.make("CartPole-v1")
    config = configured(hidden=(), init_last_layer=0.0)
    assert not policies.make(config, made.observation_space, made.action_space).initial(3).any()


@pytest.mark.parametrize(
    "options",
    [
        {"policy": "mlp", "hidden": ()},
        {"policy": "lstm", "hidden": (5,), "init_last_layer": 0.1},
        {"policy": "attention", "hidden": (16,)},
        {"policy": "attention", "hidden": (16,), "controller": "mlp", "stride": 8},  # in torch
    ],
)
def test_the_first_biases_of_the_outputs_can_be_given(options):
    shape = (96, 96, 3) if options["policy"] == "attention" else (4,)
    observations = spaces.Box(0, 255, shape, np.uint8)

    def policy(**more):
        actions = spaces.Box(-1, 1, (3,), np.float32)
        return policies.make(configured(**options, **more), observations, actions)

    given, drawn = policy(init_outputs=(0.0, 0.5, -1.5)).initial(3), policy().initial(3)
    np.testing.assert_array_equal(given[:-3], drawn[:-3])
    np.testing.assert_array_equal(given[-3:], np.float32([0, 0.5, -1.5]))
    with pytest.raises(UserError, match="--init-outputs: expected 3 finite numbers"):
        policy(init_outputs=(0.0, 1.0))
    with pytest.raises(UserError, match="--init-outputs: expected 3 finite numbers"):
        policy(init_outputs=(0.0, 1.0, float("nan")))
