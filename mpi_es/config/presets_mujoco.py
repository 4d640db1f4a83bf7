"""MuJoCo's bodies with the settings of OpenAI-ES (arXiv:1703.03864): linear policies, and networks 64-64.

Observations are normalised, actions disturbed in training, weights decay. A body that gets a bonus for each
step learns to stand still. As in arXiv:1803.07055 training leaves the bonus out; held-out episodes pay it.
"""

from dataclasses import replace

from mpi_es.config.run import Config, in_own_directories

LINEAR = Config(
    hidden=(),
    obs_norm=True,
    strategy="openai_es",
    population_size=64,
    init_sigma=0.05,
    learning_rate=0.02,
    weight_decay=0.005,
    action_noise=0.01,
    episode_seeds="paired",
    eval_every=10,
    num_eval_rollouts=50,
    max_iter=5000,
)
NETWORK = replace(LINEAR, hidden=(64, 64), population_size=128, init_sigma=0.02, learning_rate=0.01)

BODIES = {  # the score that counts as solved, or that others report; and whether there is a bonus for living
    "InvertedPendulum": (950.0, False),
    "Reacher": (-3.75, False),
    "Swimmer": (350.0, False),
    "Pusher": (-25.0, False),
    "HalfCheetah": (4800.0, False),
    "Hopper": (3000.0, True),
    "Walker2d": (4000.0, True),
    "Ant": (4000.0, True),
    "Humanoid": (6000.0, True),
    "HumanoidStandup": (150_000.0, False),
}


def _evolved(config: Config, body: str) -> Config:
    """Return the config of a body."""
    score, bonus = BODIES[body]
    return replace(
        config,
        env=f"envpool:{body}-v5",
        env_options=("healthy_reward=0.0",) if bonus else (),
        held_out_env_options=(f"healthy_reward={5.0 if body == 'Humanoid' else 1.0}",) if bonus else (),
        target_fitness=score,
    )


MUJOCO = in_own_directories(
    {body.lower(): _evolved(LINEAR, body) for body in BODIES}
    | {f"{body.lower()}-64": _evolved(NETWORK, body) for body in BODIES}
)
