"""Configs under a name: `python -m mpi_es.train NAME`."""

from dataclasses import replace

from mpi_es.config import Config

# The attention agent's paper, arXiv:2003.08165. Its 1000 steps are the environment's own limit.
CARRACING = Config(
    env="mpi_es/CarRacing-v3",
    policy="attention",
    hidden=(16,),
    population_size=256,
    init_sigma=0.1,
    max_iter=2000,
    num_rollouts=16,
    early_stop=20,
    eval_every=10,
    num_eval_rollouts=100,
)
# What learned most in the same time on two cores (docs/carracing.md).
FAST = replace(
    CARRACING, cma_variant="separable", population_size=128, num_rollouts=2, episode_seeds="common"
)
# What its parts learn alone, beside the others of an agent that was trained before.
CONTROLLER = replace(CARRACING, evolve="controller")
ATTENTION = replace(CARRACING, evolve="attention")
FRAMES = replace(CONTROLLER, controller="mlp")

PRESETS = {
    "carracing": CARRACING,
    "carracing-fast": replace(FAST, run_dir="runs/carracing-fast-{seed}"),
    "carracing-exp1": replace(CONTROLLER, run_dir="runs/carracing-exp1-{seed}"),
    "carracing-exp3": replace(ATTENTION, run_dir="runs/carracing-exp3-{seed}"),
    "carracing-exp3.1": replace(ATTENTION, query_dim=2, bias=False, run_dir="runs/carracing-exp3.1-{seed}"),
    "carracing-exp4": replace(FRAMES, num_frames=2, run_dir="runs/carracing-exp4-{seed}"),
    "carracing-exp4-4frames": replace(FRAMES, num_frames=4, run_dir="runs/carracing-exp4-4frames-{seed}"),
    "carracing-exp5": replace(CONTROLLER, controller="rnn", run_dir="runs/carracing-exp5-{seed}"),
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
