"""Small control tasks: ours, and those of pytorch-es, PyTorch-ES and karush17's post."""

from mpi_es.config.run import Preset

CARTPOLE: Preset = dict(
    env="mpi_es/CartPole-v1",
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
)
# Not ranks: once half of the episodes reach the end with similar scores, ranks mostly compare these.
HARDCORE: Preset = dict(
    env="mpi_es/BipedalWalkerHardcore-v3",
    hidden=(40, 40),  # estool's network for it
    obs_norm=True,
    strategy="openai_es",
    shaping="standardized",
    population_size=512,
    init_sigma=0.04,
    learning_rate=0.004,
    episode_seeds="paired",
    eval_every=20,
    num_eval_rollouts=100,
    max_iter=8000,
    target_fitness=300.0,
)
WALKER: Preset = dict(
    env="mpi_es/BipedalWalker-v3",
    hidden=(),
    obs_norm=True,
    population_size=32,
    init_sigma=0.1,
    eval_every=20,
    num_eval_rollouts=100,
    max_iter=3000,
    target_fitness=303.0,
    target_consecutive=2,
)
# With a smaller sigma, torch's initial weights, or a fall that costs 100, it may learn to stand before it
# walks. With a fall that costs 1, it may learn to run and fall.
WALKER_FAST = WALKER | dict(
    init_last_layer=0.0,
    population_size=64,
    init_sigma=0.2,
    clip_rewards=(-10.0, 1.0),
    episode_seeds="common",
    episode_cap=400,
    cap_growth=1.1,
)
OURS = {
    "lunarlander": dict(
        env="mpi_es/LunarLander-v3",
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
    "bipedalwalker": WALKER,
    "cartpole": CARTPOLE,
    "bipedalwalker-fast": WALKER_FAST,
    "hardcore": HARDCORE,
}

# pytorch-es. Its gradient is multiplied by n sigma, which Adam undoes; the learning rate remains.
SMALL_NET: Preset = dict(
    env="mpi_es/CartPole-v1",
    hidden=(64, 64),
    activation="selu",
    strategy="openai_es",
    population_size=40,
    init_sigma=0.05,
    learning_rate=0.1,
    shaping="log-rank",
    eval_every=5,
    target_fitness=490.0,
)

# PyTorch-ES has no mirrored pairs, so its 5 candidates are 6 here. Its CartPole ends after 200 steps.
REWARDS: Preset = dict(
    strategy="openai_es",
    activation="relu",
    shaping="standardized",
    learning_rate=0.001,
    target_consecutive=10,
)
PYTORCH_ES = {
    "rewards-es-cartpole": REWARDS
    | dict(
        env="mpi_es/CartPole-v1",
        env_options=("max_episode_steps=200",),
        hidden=(100,),
        population_size=6,
        init_sigma=0.1,
        target_fitness=200.0,
    ),
    "rewards-es-lunarlander": REWARDS
    | dict(
        env="mpi_es/LunarLander-v3",
        hidden=(100, 100),
        population_size=100,
        init_sigma=0.01,
        lr_decay=0.9999,
        target_fitness=200.0,
    ),
    "rewards-es-hardcore": REWARDS
    | dict(
        env="mpi_es/BipedalWalkerHardcore-v3",
        hidden=(100, 100),
        population_size=50,
        init_sigma=0.1,
        max_iter=5000,
        target_fitness=300.0,
        target_consecutive=20,
    ),
}

# karush17's post: 100 mirrored pairs, sigma 1, Adam 0.1, centred ranks. It multiplies the weights of the last
# layer by 0.1; ours are torch's, for which a sigma of 1 is only noise.
POST: Preset = dict(
    hidden=(64, 64),
    strategy="openai_es",
    population_size=200,
    init_sigma=0.1,
    learning_rate=0.01,
    max_iter=5000,
    eval_every=10,
)

CONTROL = {
    **OURS,
    "pytorch-es-cartpole": SMALL_NET,
    **PYTORCH_ES,
    "post-cyclicmdp": POST | dict(env="mpi_es/CyclicMDP-v0", target_fitness=1300.0),
    "post-lunarlander": POST | dict(env="mpi_es/LunarLander-v3", target_fitness=200.0),
    "post-bipedalwalker": POST | dict(env="mpi_es/BipedalWalker-v3", target_fitness=300.0),
}
