"""The best member in the hands of Stable-Baselines3 alone."""

import pytest

from mpi_es.errors import UserError
from mpi_es.parallel.collectives import SerialComm
from mpi_es.seeds import held_out_seeds
from pbt import export

SB3 = ("--member", "sb3", "--num-agents", 2, "--num-rollouts", 2, "--num-eval-rollouts", 3, "--seed", 3)
SMALL = (*SB3, "--steps", 64, "--max-iter", 2, "--tune", "learning_rate", "clip_range")
PPO = ("--obs-norm", "--member-options", "n_steps=32", "batch_size=32", "n_epochs=1")
ALONE = """
import sys
sys.modules["pbt"] = sys.modules["mpi_es"] = None
import gymnasium
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

agent = PPO.load("agent.zip")
envs = VecNormalize.load("agent.pkl", DummyVecEnv([lambda: gymnasium.make("CartPole-v1")]))
env, returns = gymnasium.make("CartPole-v1"), []
for seed in map(int, sys.argv[1:]):
    seen, over, gained = env.reset(seed=seed)[0], False, 0.0
    while not over:
        action, _ = agent.predict(envs.normalize_obs(seen), deterministic=True)
        seen, reward, ended, cut, _ = env.step(int(action))
        over, gained = ended or cut, gained + float(reward)
    returns.append(gained)
print(sum(returns) / len(returns), agent.clip_range(1.0))
agent.set_env(DummyVecEnv([lambda: env]))
agent.learn(64)
"""


def test_stable_baselines3_alone_gets_the_same_score_and_trains_on(trained, launch, tmp_path, capsys):
    best = trained(tmp_path / "run", *SMALL, *PPO)["best"]
    assert export.main(SerialComm(), [str(tmp_path / "run"), "--out", str(tmp_path / "agent.zip")]) == 0
    assert capsys.readouterr().out.split() == [str(tmp_path / "agent.zip"), str(tmp_path / "agent.pkl")]
    done = launch(0, "-c", ALONE, *held_out_seeds(3, 3).tolist(), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    mean, clip = map(float, done.stdout.split())
    assert (mean, clip) == (best["fitness"], float(best["hyperparameters"]["clip_range"]))


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "RUN: expected the directory of a run as the first argument"),
        (["run", "--out", "agent.npz"], "--out: expected a file that ends in .zip, got 'agent.npz'"),
        (["run", "--out", "agent.zip"], "RUN: expected a run of sb3 members, got 'toy'"),
    ],
)
def test_mistakes_raise(trained, tmp_path, monkeypatch, arguments, complaint):
    monkeypatch.chdir(tmp_path)
    trained(tmp_path / "run", "toy", "--max-iter", 1)
    with pytest.raises(UserError, match=complaint):
        export.main(SerialComm(), arguments)
