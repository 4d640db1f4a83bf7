"""What an agent does one step after the other, and over episodes, is what its run and the commands do."""

import copy
import pickle
from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest
import torch

import mpi_es
from mpi_es import evaluate
from mpi_es.agents.agent import Agent
from mpi_es.config.run import configured
from mpi_es.errors import UserError
from mpi_es.evaluation.build import make_evaluator, make_policy
from mpi_es.parallel.collectives import SerialComm
from mpi_es.parallel.stop_signal import StopFlag
from mpi_es.seeds import held_out_seeds
from mpi_es.strategies.base import alone
from tests.launching import run_here

ME = "tests.policies.user_policies"


def agent(**options):
    """Return an agent that has not learnt."""
    config = configured(**options)
    policy = make_policy(config)
    size = 4 if config.obs_norm else 0
    normalisation = np.stack([np.full(size, 0.01), np.full(size, 3.0)])
    return Agent(config, policy, 3 * policy.initial(1), normalisation, observed=1000.0)


def played(agent, seed):
    """Return the return of an episode that the agent plays step by step."""
    env, total, over = gym.make(agent.config.env), 0.0, False
    observation, _ = env.reset(seed=int(seed))
    agent.reset(int(seed))
    while not over:
        action = agent(observation)
        assert env.action_space.contains(action)
        observation, reward, terminated, truncated, _ = env.step(action)
        total, over = total + float(reward), terminated or truncated
    return total


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
@pytest.mark.parametrize("policy", ["lstm", f"{ME}:Remembering"])
def test_a_copy_plays_the_same(policy, copied):
    one = agent(policy=policy)
    assert copied(one).evaluate(2).returns.tolist() == one.evaluate(2).returns.tolist()


def test_parameters_that_a_policy_has_in_another_form_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        agent(hidden=(2,)).parameters[:] = 0


def test_a_batch_of_observations_is_refused():
    with pytest.raises(UserError, match=r"agent: expected one observation of the shape \(4,\), got \(3, 4\)"):
        agent(hidden=(2,))(np.zeros((3, 4)))


@pytest.mark.parametrize(
    "options",
    [
        {"policy": "mlp", "hidden": (6,)},
        {"policy": "lstm", "hidden": (6,), "obs_norm": True},
        {"policy": "gru", "hidden": (6,), "action_repeat": 3},
        {"policy": f"{ME}:Remembering"},
        {"policy": f"{ME}:Drawing"},
        {"policy": f"{ME}:Remembering", "strategy": "openai_es", "noise": "low-rank", "noise_rank": 2},
        {"policy": "lstm", "hidden": (6,), "env": "Pendulum-v1"},
        {"policy": "mlp", "env": "FrozenLake-v1"},
    ],
)
def test_step_by_step_it_plays_the_episodes_of_its_evaluation(options):
    one = agent(**options)
    returns = one.evaluate(4, "held-out").returns
    seeds = held_out_seeds(one.config.seed, 4)
    np.testing.assert_allclose([played(one, seed) for seed in seeds], returns, rtol=1e-12)
    assert one.evaluate(seeds=[*map(int, seeds)]).returns.tolist() == returns.tolist()
    assert one.evaluate(np.int64(4), "held-out").returns.tolist() == returns.tolist()


class Clipping(gym.Env):
    """The reward is the first number of an action, which is changed in place."""

    observation_space = gym.spaces.Box(-1, 1, (1,), np.float32)
    action_space = gym.spaces.Box(-2, 2, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        self.steps = 0
        return np.ones(1, np.float32), {}

    def step(self, action):
        self.steps += 1
        action *= 0.5
        return np.ones(1, np.float32), float(action[0]), self.steps == 6, False, {}


def test_an_environment_may_change_the_action_that_it_gets():
    one = agent(policy="mlp", hidden=(2,), env=f"{__name__}:Clipping", action_repeat=3)
    env = Clipping()
    x, _ = env.reset()
    rewards = [env.step(one(x))[1] for _ in range(6)]
    assert len(set(rewards)) == 1
    assert one.evaluate(1).returns.tolist() == pytest.approx([sum(rewards)])


def test_a_reset_forgets_the_episode():
    one, x = agent(policy="lstm", hidden=(6,), env="Pendulum-v1"), np.array([0.5, -0.5, 1.0], np.float32)
    first, second = one(x), one(x)
    assert not np.array_equal(first, second)
    one.reset()
    assert np.array_equal(one(x), first)


def test_scores_are_those_that_the_command_prints(tmp_path, capsys):
    one = agent(policy="lstm", hidden=(3,), obs_norm=True)
    one.save(tmp_path / "agent.npz")
    run_here(evaluate, "--from-pretrained", tmp_path / "agent.npz", "--seeds", "fresh", "--episodes", 7)
    scores = one.evaluate(7)
    assert capsys.readouterr().out.endswith(f"agent.npz: {scores}\n")
    assert scores.interval[0] < scores.mean < scores.interval[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seeds": "new"}, "^seeds: expected held-out, fresh or numbers"),
        ({"seeds": []}, "^seeds: expected"),
        ({"seeds": [-1]}, "^seeds: expected"),
        ({"episodes": 0}, "^episodes: expected a whole number from 1"),
        ({"episodes": True}, "^episodes: expected a whole number from 1"),
        ({"episodes": 2.0}, "^episodes: expected a whole number from 1"),
    ],
)
def test_episodes_that_nobody_can_play_are_refused(arguments, message):
    with pytest.raises(UserError, match=message):
        agent().evaluate(**arguments)


def test_of_low_rank_it_answers_in_batches_as_its_run_does(monkeypatch):
    one = agent(policy=f"{ME}:Remembering", strategy="openai_es", noise="low-rank")
    evaluator = make_evaluator(SerialComm(), one.config, StopFlag())
    monkeypatch.setattr(evaluator.rollout.policy, "unpack", None)  # large modules would answer one by one
    seeds = held_out_seeds(one.config.seed, 4)
    played = evaluator.evaluate(alone(one.parameters), seeds[None], evaluator.held_out_rules(0, None))
    np.testing.assert_array_equal(one.evaluate(4, "held-out").returns, played.returns[0])


def test_of_which_a_part_evolved_with_low_rank_it_scores_as_in_its_run(tmp_path):
    options = dict(policy=f"{ME}:Remembering", strategy="openai_es", noise="low-rank", noise_rank=2)
    agent(env="Pendulum-v1", **options).save(tmp_path / "base.npz")
    result = mpi_es.evolve_policy(
        "Pendulum-v1",
        **options,
        evolve="cell",
        base_from_pretrained=str(tmp_path / "base.npz"),
        population_size=4,
        max_iter=1,
        num_eval_rollouts=3,
        console="silent",
        run_dir=tmp_path / "run",
    )
    result.agent.save(tmp_path / "agent.npz")
    for one in (result.agent, *map(mpi_es.load_agent, (tmp_path / "agent.npz", tmp_path / "run"))):
        assert one.evaluate(3, "held-out").returns.tolist() == result.score.returns.tolist()


def test_held_out_episodes_have_their_own_environment():
    options = {"env_options": ("max_episode_steps=9",), "held_out_env_options": ("max_episode_steps=2",)}
    assert agent(**options).evaluate(3).returns.tolist() == [2.0] * 3


def test_the_normalisation_must_fit():
    one = replace(agent(obs_norm=True), normalisation=np.zeros((2, 3)))
    with pytest.raises(UserError, match="agent: expected a normalisation of the 4 observed numbers, got 3"):
        one.evaluate(1)


def test_the_module_has_the_parameters_and_answers_alike():
    one = agent(hidden=(6,))
    module, x = one.module(), np.random.default_rng(0).standard_normal((8, 4), np.float32)
    flat = torch.nn.utils.parameters_to_vector(module.parameters())
    np.testing.assert_array_equal(flat, one.parameters)
    assert (module.training, flat.requires_grad) == (False, False)
    assert module(torch.from_numpy(x)).argmax(1).tolist() == [one(row) for row in x]


def test_a_saved_agent_is_the_same(tmp_path):
    one = agent(policy="lstm", hidden=(3,), obs_norm=True)
    one.save(tmp_path / "agent.npz")
    other = mpi_es.load_agent(tmp_path / "agent.npz")
    assert (other.parameters.tobytes(), other.config.policy) == (one.parameters.tobytes(), one.config.policy)
    assert other.normalisation.tobytes() == one.normalisation.tobytes()
    assert other.observed == one.observed
    with pytest.raises(
        UserError, match=r"^Agent.save: expected a file that ends in .npz or .pt, got '\S+.txt'"
    ):
        one.save(tmp_path / "agent.txt")
    with pytest.raises(UserError, match=r"^Agent.save: cannot write /nowhere/agent.npz"):
        one.save("/nowhere/agent.npz")


def test_it_plays_on_a_machine_without_the_gpu_of_its_run(tmp_path):
    one = agent(policy=f"{ME}:Single")
    replace(one, config=replace(one.config, device="cuda:77")).save(tmp_path / "agent.npz")
    other = mpi_es.load_agent(tmp_path / "agent.npz")
    assert other.config.device == "auto"
    np.testing.assert_allclose(other.evaluate(2).returns, one.evaluate(2).returns)


def test_a_script_of_it_answers_alike(tmp_path):
    one = agent(hidden=(6,), obs_norm=True)
    one.save(tmp_path / "agent.pt")
    answers = torch.jit.load(tmp_path / "agent.pt")(torch.tensor([[0.1, 0.2, 0.3, 0.4]]))
    assert int(answers.argmax()) == one([0.1, 0.2, 0.3, 0.4])


def test_it_is_short():
    assert repr(agent(hidden=(6,))) == "Agent(mlp of 44 parameters for CartPole-v1)"
