"""Members of Stable-Baselines3: what is tuned takes effect, and a state is all that they go on from."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from mpi_es.envs.lockstep.separate import SeparateEnvs
from mpi_es.errors import UserError
from mpi_es.parallel.collectives import SerialComm
from mpi_es.parallel.stop_signal import StopFlag, Stopped
from pbt import train
from pbt.config import Config
from pbt.members import space
from pbt.members.base import Diverged
from pbt.members.sb3.member import SB3
from pbt.packing import pack
from tests.launching import assert_same
from tests.pbt.runs import exact

NET = "policy_kwargs={'net_arch': [8]}"
PPO = ("n_steps=32", "batch_size=32", "n_epochs=1", NET)
OFF = ("learning_starts=16", "buffer_size=90", "batch_size=8", NET)
ALGORITHMS = {
    "PPO": Config(member_options=PPO, num_envs=2, obs_norm=True, reward_norm=True),
    "A2C": Config(member_options=(NET,)),
    "DQN": Config(member_options=(*OFF, "target_update_interval=20", "train_freq=2")),
    "SAC": Config(member_options=OFF, env="Pendulum-v1"),
    "TD3": Config(member_options=OFF, env="Pendulum-v1", obs_norm=True),
    "RecurrentPPO": Config(
        member_options=(
            "n_steps=16",
            "batch_size=16",
            "policy='MlpLstmPolicy'",
            "policy_kwargs={'lstm_hidden_size': 8}",
        )
    ),
    "ARS": Config(member_options=("n_delta=1", "zero_policy=False", NET), obs_norm=True),
}
TF_LIKE = "stable_baselines3.common.sb2_compat.rmsprop_tf_like:RMSpropTFLike"


def member(algorithm="PPO", index=0, **values):
    return made(replace(ALGORITHMS[algorithm], algorithm=algorithm), index, **values)


def made(config, index=0, **values):
    one = SB3(replace(config, member="sb3"), index, SerialComm(), StopFlag())
    one.hyperparameters, one.generation = values, 1
    return one


def weights(one):
    return np.concatenate([weight.detach().numpy().ravel() for weight in one.model.policy.parameters()])


def after_training(steps=64, **values):
    """Return a member, and its weights before and after."""
    one = member(**values)
    before = weights(one)
    one.train(steps)
    return one, before, weights(one)


@pytest.mark.parametrize("rate", [1e-4, 5e-3])
def test_the_learning_rate_is_the_size_of_adams_first_step(rate):
    _, before, after = after_training(steps=64, learning_rate=rate)
    moved = np.abs(after - before)
    # Two minibatches: the first step has the size of the rate, the second at most about that.
    assert rate < np.percentile(moved, 99) < 2.1 * rate


@pytest.mark.parametrize(("gamma", "gae_lambda"), [(0.9, 0.8), (0.99, 0.95)])
def test_advantages_use_the_tuned_discount_and_lambda(gamma, gae_lambda):
    one, _, _ = after_training(gamma=gamma, gae_lambda=gae_lambda)
    buffer = one.model.rollout_buffer
    # The buffer has turned its values environment by environment, not its rewards.
    values, advantages = buffer.values.reshape(2, 32).T, buffer.advantages.reshape(2, 32).T
    rewards, goes_on = buffer.rewards, 1 - buffer.episode_starts[1:]
    expected = rewards[:-1] + goes_on * gamma * values[1:] - values[:-1]
    expected += goes_on * gamma * gae_lambda * advantages[1:]
    assert advantages[:-1] == pytest.approx(expected, abs=1e-5)
    assert one.normalizer.gamma == gamma


def test_the_optimiser_counts_the_tuned_epochs():
    one, _, _ = after_training(n_epochs=5.0)
    assert {int(slots["step"]) for slots in one.model.policy.optimizer.state.values()} == {5 * 2}


def test_without_a_value_coefficient_the_value_network_stays():
    one, before, after = after_training(vf_coef=0.0)
    names = [name for name, _ in one.model.policy.named_parameters()]
    sizes = [weight.numel() for _, weight in one.model.policy.named_parameters()]
    moved = {
        name: np.ptp(part) + abs(part[0]) > 0
        for name, part in zip(names, np.split(after - before, np.cumsum(sizes)[:-1]), strict=True)
    }
    assert not any(moved[name] for name in names if "value" in name)
    assert all(moved[name] for name in names if "action_net" in name)


def entropy(one):
    observations = torch.linspace(-1, 1, 80).reshape(20, 4)
    return float(one.model.policy.get_distribution(observations).entropy().mean().detach())


def test_an_entropy_coefficient_keeps_the_entropy_up():
    greedy, _, _ = after_training(steps=640, learning_rate=3e-2, ent_coef=0.0)
    curious, _, _ = after_training(steps=640, learning_rate=3e-2, ent_coef=10.0)
    assert entropy(curious) > entropy(greedy) + 0.01


def test_a_tiny_clip_range_keeps_the_policy_close():
    def moved(clip_range):
        _, before, after = after_training(n_epochs=10, clip_range=clip_range, vf_coef=0.0, learning_rate=1e-2)
        return np.abs(after - before).sum()

    assert moved(1e-6) < 0.7 * moved(0.4)


def test_dqn_explores_at_the_tuned_rate():
    one = member("DQN", exploration=0.3)
    one.train(32)
    assert one.model.exploration_rate == 0.3


def test_dqn_goes_on_exploring_from_its_state():
    one = member("DQN", learning_rate=1e-3)
    one.train(32)
    other = member("DQN", learning_rate=1e-3)
    other.set_state(one.get_state())
    assert other.model.exploration_rate == one.model.exploration_rate > 0


def test_an_algorithm_without_an_optimiser_has_its_learning_rate():
    config = Config(algorithm="ARS", member_options=("n_delta=1", "policy='LinearPolicy'"))
    one = made(config, learning_rate=0.03)
    one.train(2)
    assert one.in_effect() == {"learning_rate": 0.03}


def test_the_next_update_uses_a_changed_learning_rate():
    one, _, _ = after_training(learning_rate=1e-3)
    one.hyperparameters = {"learning_rate": 1e-5}
    before, one.generation = weights(one), 2
    one.train(64)
    assert np.abs(weights(one) - before).max() < 1e-4


LATER = {"RecurrentPPO", "SAC", "TD3"}  # the other three show the same in less time


@pytest.mark.parametrize(
    "algorithm", [pytest.param(name, marks=[pytest.mark.slow] * (name in LATER)) for name in ALGORITHMS]
)
def test_a_member_continues_from_its_state_alone(algorithm):
    config = replace(ALGORITHMS[algorithm], algorithm=algorithm)
    if algorithm == "A2C":  # its slots are tensors and numbers
        config = replace(config, member_options=(f"policy_kwargs={{'optimizer_class': '{TF_LIKE}'}}",))
    values = {"learning_rate": 1e-3} | ({} if algorithm == "ARS" else {"gamma": 0.9})
    one = made(config, **values)
    one.train(64)
    state = one.get_state()
    other = made(config, 1, **values)
    if algorithm != "ARS":  # after a training its policy would read the weights themselves
        other.train(32)  # something to forget
    other.set_state(state)
    assert pack(other.get_state()).tobytes() == pack(state).tobytes()
    seeds = np.arange(3)
    assert (one.score(seeds).returns == other.score(seeds).returns).all()
    other.index, one.generation, other.generation = 0, 2, 2
    one.train(64)
    other.train(64)
    assert pack(one.get_state()).tobytes() == pack(other.get_state()).tobytes()
    assert pack(one.get_state()).tobytes() != pack(state).tobytes()


def test_scoring_teaches_nothing():
    one, _, _ = after_training()
    before = pack(one.get_state()).tobytes()
    first, second = one.score(np.arange(20)), one.score(np.arange(20))
    assert (first.returns == second.returns).all()
    assert first.returns.shape == first.lengths.shape == (20,)
    assert pack(one.get_state()).tobytes() == before


@pytest.mark.parametrize("algorithm", ["PPO", "TD3", "RecurrentPPO"])
def test_a_held_out_episode_does_not_depend_on_their_number(algorithm):
    one = member(algorithm)
    for of in (one.evaluate(np.arange(20)), one.evaluate(np.arange(17)), one.evaluate(np.arange(3))):
        assert of.returns.tobytes() == one.evaluate(np.arange(33)).returns[: len(of.returns)].tobytes()


def test_the_state_holds_the_normalisation_statistics():
    one, _, _ = after_training()
    state = one.get_state()
    assert state["obs_rms.mean"].shape == (4,)
    assert float(state["obs_rms.count"]) > 64
    assert float(state["ret_rms.var"]) != 1


def test_the_state_holds_the_filled_part_of_the_replay_buffer():
    one = member("DQN")
    one.train(64)
    assert one.get_state()["replay.rewards"].shape == (64, 1)
    one.train(64)
    assert one.get_state()["replay.rewards"].shape == (90, 1)


def test_a_member_with_weights_that_are_not_finite_diverged():
    with pytest.raises(Diverged):
        after_training(steps=640, learning_rate=1e30)


def test_a_member_whose_actions_that_are_not_finite_end_in_an_error_of_the_environment_diverged():
    config = Config(algorithm="TD3", env="BipedalWalker-v3", member_options=OFF)
    with pytest.raises(Diverged):
        made(config, learning_rate=1e30, action_noise=0.1).train(300)


def test_a_member_without_a_valid_action_distribution_diverged():
    one = made(Config(algorithm="A2C", env="Pendulum-v1", member_options=(NET,)), learning_rate=1e-3)
    with torch.no_grad():
        one.model.policy.log_std.fill_(-1e4)  # a number, whose exponential is a deviation of 0
    with pytest.raises(Diverged):
        one.train(64)
    with pytest.raises(Diverged):
        one.score(np.arange(2))


@pytest.mark.parametrize("given", [("action_noise=0.3",), ()])
def test_a_deterministic_policy_gets_action_noise(given):
    values = {} if given else {"action_noise": 0.3}
    config = Config(algorithm="TD3", env="Pendulum-v1", num_envs=2, member_options=(*OFF, *given))
    one = made(config, **values)
    one.train(32)
    noise = one.model.action_noise()
    assert noise.shape == (2, 1)
    assert np.std([one.model.action_noise() for _ in range(500)]) == pytest.approx(0.3, rel=0.1)


def test_a_replay_buffer_ends_its_episodes_with_the_generation():
    one = member("TD3")
    one.train(48)
    buffer = one.model.replay_buffer
    assert (buffer.dones[47], buffer.timeouts[46], buffer.timeouts[47]) == (0, 0, 1)


def test_reward_normalisation_uses_the_discount_of_the_options():
    one = made(Config(member_options=(*PPO, "gamma=0.5"), reward_norm=True), learning_rate=1e-3)
    one.train(64)
    assert (one.model.gamma, one.normalizer.gamma) == (0.5, 0.5)


def test_a_signal_ends_the_training():
    one = member()
    one.stop.name = "SIGTERM"
    with pytest.raises(Stopped):
        one.train(10**9)


def refused(**options):
    with pytest.raises(UserError) as caught:
        space(Config(member="sb3", **options))
    return str(caught.value)


def test_a_signal_ends_an_update_too():
    one, steps = made(Config(member_options=("n_steps=32", "batch_size=8", "n_epochs=1000", NET))), []

    def signalled(*_):
        steps.append(1)
        one.stop.name = "SIGUSR1" if len(steps) == 3 else ""

    one.model.policy.optimizer.register_step_post_hook(signalled)
    with pytest.raises(Stopped):
        one.train(32)
    assert len(steps) == 3


def test_mistakes_raise():
    assert refused(algorithm="PPPO").endswith("got 'PPPO'; did you mean 'PPO'?")
    assert "--tune, of DQN on CartPole-v1: expected one of exploration" in refused(
        algorithm="DQN", tune=("clip_range",)
    )
    assert "--member-options, of PPO: expected one of" in refused(member_options=("nsteps=3",))
    assert "--env: expected a gymnasium id" in refused(env="CartPol-v1")
    assert "--algorithm: expected one without action masks" in refused(algorithm="MaskablePPO")
    assert "--held-out-env-options: expected the spaces (Box" in refused(
        env="LunarLander-v3", held_out_env_options=("continuous=True",)
    )
    assert "--member-options: expected no tuned hyperparameter" in refused(
        algorithm="DQN", member_options=("exploration_fraction=0.9",)
    )
    assert "--member-options: expected each name once" in refused(
        member_options=("n_steps=8", "n_steps=9"), tune=("gamma",)
    )
    assert "for --obs-norm, got 'FrozenLake" in refused(env="FrozenLake-v1", obs_norm=True)
    assert "--member-options: expected no tuned hyperparameter" in refused(member_options=("gamma=0.9",))
    assert "of SAC: expected one of" in refused(
        algorithm="SAC", member_options=("optimize_memory_usage=True",)
    )
    assert "action_noise: expected a standard deviation, got 'a'" in refused(
        algorithm="TD3", env="Pendulum-v1", member_options=("action_noise='a'",), tune=("gamma",)
    )


def test_an_algorithm_that_refuses_the_environment_raises(tmp_path):
    arguments = ["--member", "sb3", "--algorithm", "SAC", "--run-dir", str(tmp_path / "run")]
    with pytest.raises(UserError, match=r"--member-options: SAC refuses them: AssertionError: .*Discrete"):
        train.main(SerialComm(), arguments)


def test_results_do_not_depend_on_ranks(trained, launch, tmp_path):
    small = ("--num-agents", 3, "--steps", 64, "--max-iter", 3, "--num-rollouts", 2, "--num-eval-rollouts", 2)
    tuned = ("--tune", "learning_rate", "gamma")
    options = ("--member", "sb3", "--obs-norm", "--member-options", *PPO, *tuned, *small)
    trained(tmp_path / "serial", *options)
    quiet = ("--console", "silent", "--no-tensorboard")
    done = launch(2, "-m", "pbt.train", *options, *quiet, "--run-dir", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert_same(exact(tmp_path / "run"), exact(tmp_path / "serial"))


def test_environments_of_a_score_are_closed_where_it_diverges(monkeypatch):
    made, closed = [], []

    class Counted(SeparateEnvs):
        def __init__(self, *options):
            super().__init__(*options)
            made.append(self)

        def close(self):
            super().close()
            closed.append(self)

    monkeypatch.setattr("mpi_es.envs.SeparateEnvs", Counted)
    one = member()
    next(one.model.policy.parameters()).data.fill_(np.nan)
    for _ in range(2):
        with pytest.raises(Diverged):
            one.score(np.arange(2))
    assert len(made) == 2
    assert closed == made


@pytest.mark.parametrize("algorithm", ["PPO", "RecurrentPPO"])
def test_an_algorithm_has_a_network_without_being_told(algorithm):
    options = (*PPO[:3],) if algorithm == "PPO" else ("n_steps=16", "batch_size=16")
    one = made(Config(algorithm=algorithm, member_options=options))
    assert one.model.policy_class.__name__ in ("ActorCriticPolicy", "RecurrentActorCriticPolicy")
