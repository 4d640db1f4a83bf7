"""Environments of presets: envpool's Procgen with its network, and races as a fixed attention sees them."""

import ctypes.util
import importlib.util

import numpy as np
import pytest
import torch

from mpi_es.errors import UserError
from mpi_es.parallel.collectives import SerialComm
from mpi_es.parallel.stop_signal import StopFlag
from pbt.config import Config
from pbt.members import space
from pbt.members.sb3 import environments
from pbt.members.sb3.member import SB3
from pbt.packing import pack
from pbt.papers.impala import Impala

EASY = ("num_levels=200", "start_level=0")
UNSEEN = ("num_levels=1000", "start_level=200")
BIGFISH = "envpool:BigfishEasy-v0"
procgen = pytest.mark.skipif(
    not importlib.util.find_spec("envpool") or not ctypes.util.find_library("Qt5Gui"),
    reason="Procgen needs envpool and libqt5gui5",
)


@procgen
def test_held_out_levels_are_not_those_of_training():
    from mpi_es.envs.lockstep.envpool import maker

    def levels(options):
        return maker("BigfishEasy-v0", options)(list(range(300))).reset()[1]["level_seed"]

    assert levels(EASY).max() < 200 <= levels(UNSEEN).min()


@procgen
def test_an_episode_that_ends_is_followed_by_the_next():
    trained = environments.vectorised(BIGFISH, EASY, 4)
    trained.seed(3)
    first, ended = trained.reset(), 0
    for _ in range(300):
        observations, _, over, infos = trained.step(np.zeros(4, int))
        for place in np.flatnonzero(over):
            ended += 1
            last = infos[place]["terminal_observation"]
            assert last.shape == (3, 64, 64)
            assert (last != observations[place]).any()
            assert not infos[place]["TimeLimit.truncated"]
    assert ended > 0
    trained.seed(3)
    assert (trained.reset() == first).all()
    trained.close()


CONFIG = Config(
    member="sb3",
    env=BIGFISH,
    env_options=EASY,
    held_out_env_options=UNSEEN,
    num_envs=4,
    reward_norm=True,
    member_options=(
        "n_steps=8",
        "batch_size=32",
        "n_epochs=1",
        "policy_kwargs={'features_extractor_class': 'pbt.papers.impala:Impala', 'net_arch': [],"
        " 'ortho_init': False, 'features_extractor_kwargs': {'depths': (4, 4), 'width': 16}}",
    ),
)


def member(index=0):
    made = SB3(CONFIG, index, SerialComm(), StopFlag())
    made.generation = 1
    return made


@procgen
def test_a_member_on_pictures_continues_from_its_state():
    one, other = member(), member(1)
    one.train(32)
    other.set_state(one.get_state())
    other.index, one.generation, other.generation = 0, 2, 2
    one.train(32)
    other.train(32)
    assert pack(one.get_state()).tobytes() == pack(other.get_state()).tobytes()


def test_the_held_out_evaluation_uses_its_own_environment():
    light = Config(member="sb3", env="Pendulum-v1", held_out_env_options=("g=1.0",))
    one, seeds = SB3(light, 0, SerialComm(), StopFlag()), np.arange(2)
    heavy = SB3(Config(member="sb3", env="Pendulum-v1"), 0, SerialComm(), StopFlag())
    np.testing.assert_allclose(one.score(seeds).returns, heavy.evaluate(seeds).returns, rtol=1e-6)
    assert (one.evaluate(seeds).returns > one.score(seeds).returns).all()


def test_the_network_is_that_of_impala():
    network = Impala(type("Pictures", (), {"shape": (3, 64, 64)}))
    assert sum(weight.numel() for weight in network.parameters()) == 622_144
    assert [name for name, weight in network.named_parameters() if weight.dim() == 4][::5] == [
        "parts.0.layers.0.weight",
        "parts.1.layers.0.weight",
        "parts.2.layers.0.weight",
    ]
    assert network(torch.rand(2, 3, 64, 64)).shape == (2, 256)
    bound = np.sqrt(6 / (2048 + 256))  # Xavier's
    assert float(network.dense.weight.detach().abs().max()) == pytest.approx(bound, rel=1e-3)


def test_the_network_in_bfloat16_has_nearly_the_same_features_and_gradients():
    pictures = type("Pictures", (), {"shape": (3, 64, 64)})
    whole, short = Impala(pictures), Impala(pictures, precision="bfloat16")
    short.load_state_dict(whole.state_dict())
    features, gradients = [], []
    for network in (whole, short):
        seen = network(torch.rand(4, 3, 64, 64, generator=torch.Generator().manual_seed(1)))
        seen.square().mean().backward()
        features.append(seen.detach())
        gradients.append(torch.cat([weight.grad.ravel() for weight in network.parameters()]))
    assert {features[1].dtype, gradients[1].dtype} == {torch.float32}
    for exact, rough in (features, gradients):
        error = float((rough - exact).norm() / exact.norm())
        assert 1e-5 < error < 0.03  # bfloat16 has eight bits
    with pytest.raises(UserError, match="precision: expected float32 or bfloat16, got 'half'"):
        Impala(pictures, precision="half")


@procgen
@pytest.mark.parametrize(
    ("env", "options", "complaint"),
    [
        ("envpool:Bigfish-v0", EASY, "--env: expected an id of envpool, got 'Bigfish-v0'; did you mean"),
        (BIGFISH, ("levels=3",), "--env: envpool:BigfishEasy-v0 cannot be made: "),
    ],
)
def test_an_environment_that_cannot_be_made_raises(env, options, complaint):
    with pytest.raises(UserError, match=complaint) as caught:
        space(Config(member="sb3", env=env, env_options=options))
    assert "\n" not in str(caught.value)


def test_held_out_observations_must_have_the_space_of_training():
    with pytest.raises(UserError, match=r"--held-out-env-options: expected the spaces \(Discrete\(16\), "):
        space(
            Config(
                member="sb3",
                env="FrozenLake-v1",
                env_options=("map_name=4x4",),
                held_out_env_options=("map_name=8x8",),
            )
        )
