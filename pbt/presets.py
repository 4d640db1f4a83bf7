"""The presets: options of runs by name."""

from typing import Any

from pbt.config import Config

Preset = dict[str, Any]

# Figure 2 of the paper: two agents, 200 steps, the loser copies every 20 steps.
_TOY: Preset = dict(
    num_agents=2,
    steps=20,
    max_iter=10,
    num_rollouts=1,
    fraction=0.5,
    copy="weights",
    resample=0.0,
    num_eval_rollouts=1,
)
# The ranges are those of EVO: learning rates 10^U(-4, -3), discounts in [0.8, 0.99].
_PPO: Preset = dict(
    member="sb3",
    num_envs=8,
    num_rollouts=5,
    tune=("learning_rate=1e-4:1e-3", "gamma=0.8:0.99"),
)
# Other values that differ from SB3's defaults are those of rl-baselines3-zoo.
_ROLLOUTS_OF_1024 = ("n_steps=1024", "batch_size=64", "n_epochs=4", "gae_lambda=0.98")
# By default SB3 would initialise the weights orthogonally and add hidden layers after the features.
_IMPALA = {"features_extractor_class": "pbt.papers.impala:Impala", "net_arch": [], "ortho_init": False}
_IN_BFLOAT16 = {"features_extractor_kwargs": {"precision": "bfloat16"}}
# Actions with a standard deviation of 1 cost Ant-v5 more than its reward for health: they learn to fall.
_SMALL_NOISE = {"log_std_init": -1}
_PROCGEN = ("n_steps=256", "batch_size=2048", "n_epochs=3", "gae_lambda=0.95", "max_grad_norm=0.5")
_BIGFISH = _PPO | dict(
    env="envpool:BigfishEasy-v0",
    env_options=("num_levels=200", "start_level=0"),
    held_out_env_options=("num_levels=1000000", "start_level=200"),
    num_envs=64,
    reward_norm=True,
    steps=262144,
    max_iter=96,  # 25 million steps
    num_rollouts=16,
    member_options=(*_PROCGEN, f"policy_kwargs={_IMPALA}"),
    tune=("learning_rate=1e-4:1e-3", "gamma=0.99:0.9995", "ent_coef=1e-3:0.05"),
)

PRESETS: dict[str, Preset] = {
    "toy": _TOY,
    "cartpole": _PPO
    | dict(
        steps=5120,
        max_iter=20,
        member_options=("n_steps=32", "batch_size=256", "n_epochs=20", "gae_lambda=0.8"),
    ),
    "lunarlander": _PPO
    | dict(
        env="LunarLander-v3",
        steps=24576,
        max_iter=40,
        num_rollouts=10,
        member_options=_ROLLOUTS_OF_1024,
        tune=("learning_rate=1e-4:1e-3", "gamma=0.99:0.9995", "ent_coef=1e-4:0.05"),
    ),
    "bipedalwalker": _PPO
    | dict(
        env="BipedalWalker-v3",
        num_envs=16,
        obs_norm=True,
        reward_norm=True,
        steps=65536,
        max_iter=80,
        member_options=("n_steps=1024", "batch_size=64", "gae_lambda=0.95"),
        tune=("learning_rate=1e-4:1e-3", "gamma=0.99:0.9995", "clip_range=0.1:0.3", "ent_coef=1e-5:0.01"),
    ),
    "ant": _PPO
    | dict(
        env="Ant-v5",
        obs_norm=True,
        reward_norm=True,
        steps=20480,
        max_iter=100,
        member_options=("n_steps=256", "batch_size=256", "gae_lambda=0.95", f"policy_kwargs={_SMALL_NOISE}"),
        tune=("learning_rate=1e-5:1e-3", "gamma=0.95:0.999", "clip_range=0.1:0.3", "ent_coef=1e-6:0.01"),
    ),
    "bigfish": _BIGFISH,
    "bigfish-bfloat16": _BIGFISH
    | dict(member_options=(*_PROCGEN, f"policy_kwargs={_IMPALA | _IN_BFLOAT16}")),
    "carracing-exp2": _PPO
    | dict(
        env="pbt.papers.centres:make",
        obs_norm=True,
        reward_norm=True,
        steps=16384,  # each repeats its action for four steps of the car
        max_iter=100,
        member_options=("n_steps=256", "batch_size=256", "policy_kwargs={'log_std_init': -0.5}"),
        tune=("learning_rate=1e-4:1e-3", "gamma=0.98:0.995", "ent_coef=1e-5:0.01"),
    ),
}


def preset(name: str, **options: Any) -> Config:
    """Return the config of a preset, changed by options."""
    return Config(**PRESETS[name] | options)
