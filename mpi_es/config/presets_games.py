"""Games played from pixels: Atari as pytorch-es and PyTorch-ES play it,
and the attention paper's TakeCover.
"""

from mpi_es.config.presets_car_racing import CARRACING, FAST
from mpi_es.config.run import Preset

# pytorch-es: 20 mirrored pairs, sigma 0.05. Its learning rate of 0.1 is twice sigma: with Adam, a step moves
# each weight out of the population. A tenth of it is a fifth of sigma.
GREY: Preset = dict(
    env="mpi_es.papers.atari_frames:make_grey",
    policy="mpi_es.papers.atari_networks:ConvolutionLSTM",
    strategy="openai_es",
    population_size=40,
    init_sigma=0.05,
    learning_rate=0.01,
    shaping="log-rank",
    eval_every=10,
    num_eval_rollouts=8,
    envs_per_rank=4,  # each needs 2.4 MB for its network's weights
)
# PyTorch-ES
COLOUR: Preset = dict(
    env="mpi_es.papers.atari_frames:make_colour",
    env_options=("game=SpaceInvaders",),
    policy="mpi_es.papers.atari_networks:Convolution",
    strategy="openai_es",
    population_size=50,
    init_sigma=0.3,
    learning_rate=0.001,
    shaping="standardized",
    eval_every=10,
    num_eval_rollouts=8,
    target_fitness=200.0,
    target_consecutive=20,
    envs_per_rank=4,
)
RAM: Preset = dict(
    env="ALE/SpaceInvaders-v5",
    env_options=("obs_type=ram", "repeat_action_probability=0.25"),
    hidden=(200, 500),
    activation="relu",
    obs_norm=True,
    strategy="openai_es",
    population_size=100,
    init_sigma=0.01,
    learning_rate=0.001,
    shaping="standardized",
    eval_every=10,
    num_eval_rollouts=16,
    target_fitness=600.0,
    target_consecutive=10,
)

# arXiv:2003.08165; 750 counts as solved. The paper ran 10,000 generations.
TAKECOVER = CARRACING | dict(
    env="mpi_es/TakeCover-v0",
    num_rollouts=5,
    early_stop=0,
    target_fitness=750.0,
    envs_per_rank=4,  # each in its own process
)

GAMES = {
    "pong": GREY | dict(env_options=("game=Pong",), target_fitness=20.0),
    "spaceinvaders": GREY | dict(env_options=("game=SpaceInvaders",), target_fitness=1000.0),
    "spaceinvaders-colour": COLOUR,
    "spaceinvaders-ram": RAM,
    "takecover": TAKECOVER,
    "takecover-fast": TAKECOVER | FAST | dict(init_sigma=0.2),
}
