"""The runs that have a name; each takes either selection, `--selection winner-takes-all` being the other."""

from dataclasses import replace

from pbt.config import Config

# Figure 2 of the paper: two agents, 200 steps, the loser copies each 20th.
_TOY = Config(
    num_agents=2,
    steps=20,
    max_iter=10,
    num_rollouts=1,
    fraction=0.5,
    copy="weights",
    resample=0.0,
    num_eval_rollouts=1,
)
# Ranges of EVO's: rates 10^U(-4, -3), discounts in [0.8, 0.99].
_PPO = Config(
    member="sb3",
    num_envs=8,
    num_rollouts=5,
    tune=("learning_rate=1e-4:1e-3", "gamma=0.8:0.99"),
)
# What else differs from SB3's defaults is what its users have tuned (rl-baselines3-zoo).
_ROLLOUTS_OF_1024 = ("n_steps=1024", "batch_size=64", "n_epochs=4", "gae_lambda=0.98", "ent_coef=0.01")

PRESETS: dict[str, Config] = {
    "toy": _TOY,
    "cartpole": replace(
        _PPO,
        steps=5120,
        max_iter=20,
        member_options=("n_steps=32", "batch_size=256", "n_epochs=20", "gae_lambda=0.8"),
    ),
    "lunarlander": replace(
        _PPO,
        env="LunarLander-v3",
        steps=24576,
        max_iter=40,
        num_rollouts=10,
        member_options=_ROLLOUTS_OF_1024,
        tune=("learning_rate=1e-4:1e-3", "gamma=0.99:0.9995", "ent_coef=1e-4:0.05"),
    ),
    "bipedalwalker": replace(
        _PPO,
        env="BipedalWalker-v3",
        num_envs=16,
        obs_norm=True,
        reward_norm=True,
        steps=65536,
        max_iter=80,
        member_options=("n_steps=1024", "batch_size=64", "gae_lambda=0.95"),
        tune=("learning_rate=1e-4:1e-3", "gamma=0.99:0.9995", "clip_range=0.1:0.3", "ent_coef=1e-5:0.01"),
    ),
}
