from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest
import torch

from mpi_es import envs
from mpi_es.agents.agent import Agent
from mpi_es.config.parts import changed
from mpi_es.config.presets import preset as run_preset
from mpi_es.errors import UserError
from mpi_es.evaluation.build import make_policy
from mpi_es.parallel.collectives import SerialComm
from mpi_es.parallel.stop_signal import StopFlag
from pbt.members import space
from pbt.members.sb3.member import SB3
from pbt.packing import pack
from pbt.papers.centres import Centres, Decisions
from pbt.presets import preset

CARRACING = run_preset("carracing")


def agent(**options):
    config = changed(CARRACING, **options)
    policy = make_policy(config)
    return Agent(config, policy, policy.initial(3), np.zeros((2, 0), np.float32))


@pytest.mark.parametrize("options", [{}, {"top_k": 16, "patch_order": "column"}])
def test_observations_are_the_inputs_of_the_agents_controller(options):
    own = agent(**options)
    seen, module = Centres(envs.make(CARRACING.env)[0], own), make_policy(own.config).module()
    torch.nn.utils.vector_to_parameters(torch.tensor(own.parameters), module.parameters())
    frames = np.random.default_rng(0).integers(0, 256, (3, 96, 96, 3), dtype=np.uint8)
    with torch.no_grad():
        chosen = module.chosen(module.importance(torch.from_numpy(frames)))
        centres = module.centres[module.read(chosen)].flatten(1).numpy() / 96
    observed = np.array([seen.observation(frame) for frame in frames])
    assert observed == pytest.approx(centres)
    assert all(row in seen.observation_space for row in observed)


class Pedals(gym.Env):
    """Gives a reward of one at each step, ends after six, and remembers its actions."""

    observation_space, action_space = gym.spaces.Discrete(7), gym.spaces.Box(-1, 1, (3,))

    def reset(self, *, seed=None, options=None):
        self.actions = []
        return 0, {}

    def step(self, action):
        self.actions.append(action.tolist())
        return len(self.actions), 1.0, len(self.actions) == 6, False, {}


def test_a_decision_lasts_some_steps_and_has_one_pedal():
    env = Decisions(Pedals(), 4)
    env.reset()
    assert env.step(np.array([-0.5, 2.0], np.float32)) == (4, 4.0, False, False, {})
    assert env.step(np.array([0.25, -0.75], np.float32)) == (6, 2.0, True, False, {})
    assert env.unwrapped.actions == [[-0.5, 1, 0]] * 4 + [[0.25, 0, 0.75]] * 2


def test_a_run_without_an_agent_raises():
    with pytest.raises(UserError, match="--env-options base_from_pretrained: expected a run or an npz file"):
        space(preset("carracing-exp2"))
    missing = replace(preset("carracing-exp2"), env_options=("base_from_pretrained=nowhere.npz",))
    with pytest.raises(UserError, match=r"got 'nowhere.npz'; it does not exist or cannot be read"):
        space(missing)


@pytest.mark.slow
def test_a_recurrent_member_learns_on_the_centres_of_an_agent_in_a_file(tmp_path):
    ours, file = agent(), tmp_path / "agent.npz"
    ours.save(file)
    published = preset("carracing-exp2")
    small = ("policy='MlpLstmPolicy'", "policy_kwargs={'lstm_hidden_size': 4, 'net_arch': []}", "n_steps=16")
    options = (f"base_from_pretrained={file}", "frames=1")
    config = replace(
        published, algorithm="RecurrentPPO", env_options=options, num_envs=2, member_options=small
    )
    members = [SB3(config, index, SerialComm(), StopFlag()) for index in (0, 0)]
    for one in members:
        one.generation = 1
        one.hyperparameters = {"learning_rate": 1e-3, "gamma": 0.99, "ent_coef": 0.0}
        one.train(32)
    assert pack(members[0].get_state()).tobytes() == pack(members[1].get_state()).tobytes()
