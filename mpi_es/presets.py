"""Configs under a name: `python -m mpi_es.train NAME`."""

from mpi_es.config import Config

PRESETS = {
    "cartpole": Config(
        env="CartPole-v1",
        hidden=(16,),
        population_size=32,
        init_sigma=0.3,
        learning_rate=0.1,
        num_rollouts=4,
        episode_seeds="common",
        eval_every=5,
        num_eval_rollouts=100,
        target_fitness=490.0,
        target_consecutive=2,
    ),
    "lunarlander": Config(
        env="LunarLander-v3",
        hidden=(8,),
        obs_norm=True,
        population_size=48,
        init_sigma=0.3,
        num_rollouts=4,
        eval_every=10,
        num_eval_rollouts=100,
        max_iter=500,
        target_fitness=230.0,
    ),
    "bipedalwalker": Config(
        env="BipedalWalker-v3",
        hidden=(),
        obs_norm=True,
        population_size=32,
        init_sigma=0.1,
        eval_every=20,
        num_eval_rollouts=100,
        max_iter=3000,
        target_fitness=303.0,
        target_consecutive=2,
    ),
}
