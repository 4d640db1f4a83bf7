"""The runs that have a name."""

from pbt.config import Config

# Figure 2 of the paper: two agents, 200 steps, the loser copies each 20th.
PRESETS: dict[str, Config] = {
    "toy": Config(
        num_agents=2,
        steps=20,
        max_iter=10,
        num_rollouts=1,
        fraction=0.5,
        copy="weights",
        resample=0.0,
        num_eval_rollouts=1,
    ),
}
