"""MuJoCo's bodies, mostly with the settings of OpenAI-ES (arXiv:1703.03864): linear policies, networks 64-64.

`ars-…` is augmented random search with the settings of its authors (arXiv:1803.07055, table 9): V1 for
Swimmer, V2 where all pairs are used, else V2-t.

Observations are normalised, training adds noise to actions, and weights decay. Initial outputs are zero or
small. A body that gets a bonus for each step learns to stand still. So training leaves the bonus out, as in
arXiv:1803.07055, or most of it; held-out episodes pay it.
"""

from dataclasses import dataclass, field
from typing import Any

from mpi_es.config.run import Preset

LINEAR: Preset = dict(
    hidden=(),
    obs_norm=True,
    init_last_layer=0.0,
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
# OpenAI-ES begins with outputs a hundredth of the usual ones.
NETWORK = LINEAR | dict(
    hidden=(64, 64), init_last_layer=0.01, population_size=128, init_sigma=0.02, learning_rate=0.01
)


@dataclass(frozen=True)
class Body:
    """A body and its linear policy's overrides."""

    score: float  # that counts as solved, or that others report
    bonus: float = 0.0  # of a step in which it has not fallen
    options: tuple[str, ...] = ()  # of the environment
    linear: dict[str, Any] = field(default_factory=dict)


# Where a fall ends the episode, or inputs are many, a run with a sigma of 0.05 learns to fall at once. 0.025
# is the sigma of arXiv:1803.07055.
NARROW = {"init_sigma": 0.025, "learning_rate": 0.01}
# Where a body has few parameters, 18 and 36 here, CMA-ES needs fewer steps.
FEW = {"strategy": "cma_es", "episode_seeds": "common"}
BODIES = {
    "InvertedPendulum": Body(950.0),
    "InvertedDoublePendulum": Body(9100.0),
    "Reacher": Body(-3.75),
    "Swimmer": Body(350.0, linear=FEW | {"population_size": 12, "init_sigma": 0.5, "eval_every": 5}),
    "Pusher": Body(-25.0),
    "HalfCheetah": Body(4800.0),
    "Hopper": Body(
        3000.0, bonus=1.0, linear=FEW | {"population_size": 16, "init_sigma": 0.3, "eval_every": 20}
    ),
    "Walker2d": Body(4000.0, bonus=1.0, linear=NARROW),
    # Without the 78 contact forces, which were zero in the version that others report; at first in short
    # episodes. With larger steps, and without a part of the bonus, some seeds learn to fall.
    "Ant": Body(
        4000.0,
        bonus=1.0,
        options=("use_contact_force=False",),
        linear=NARROW
        | {
            "env_options": ("healthy_reward=0.3", "use_contact_force=False"),
            "learning_rate": 0.005,
            "episode_cap": 200,
            "cap_growth": 1.01,
        },
    ),
    "Humanoid": Body(6000.0, bonus=5.0, linear=NARROW),
    "HumanoidStandup": Body(150_000.0, linear=NARROW),
}


@dataclass(frozen=True)
class RandomSearch:
    """Settings of augmented random search, by the paper's names."""

    pairs: int  # N
    used: int  # b
    step: float  # alpha
    width: float  # nu
    normalised: bool = True  # V2

    @property
    def preset(self) -> Preset:
        """The same settings as a preset of ours."""
        return dict(
            obs_norm=self.normalised,
            output="clip",
            shaping="standardized",
            optimizer="sgd",
            momentum=0.0,
            weight_decay=0.0,
            action_noise=0.0,
            episode_seeds="independent",
            population_size=2 * self.pairs,
            top_directions=self.used,
            init_sigma=self.width,
            learning_rate=2 * self.step * self.width,  # openai_es divides by these
        )


SEARCHES = {
    "Swimmer": RandomSearch(1, 1, 0.02, 0.01, normalised=False),
    "Hopper": RandomSearch(8, 4, 0.01, 0.025),
    "HalfCheetah": RandomSearch(32, 4, 0.02, 0.03),
    "Walker2d": RandomSearch(40, 30, 0.03, 0.025),
    "Ant": RandomSearch(60, 20, 0.015, 0.025),
    "Humanoid": RandomSearch(230, 230, 0.02, 0.0075),
}


def _evolved(preset: Preset, name: str) -> Preset:
    """Return the preset of a body."""
    body = BODIES[name]
    return preset | dict(
        env=f"envpool:{name}-v5",
        env_options=(*(["healthy_reward=0.0"] if body.bonus else []), *body.options),
        held_out_env_options=(f"healthy_reward={body.bonus}", *body.options) if body.bonus else (),
        target_fitness=body.score,
    )


MUJOCO = (
    {name.lower(): _evolved(LINEAR, name) | body.linear for name, body in BODIES.items()}
    | {f"{name.lower()}-64": _evolved(NETWORK, name) for name in BODIES}
    | {f"ars-{name.lower()}": _evolved(LINEAR | search.preset, name) for name, search in SEARCHES.items()}
)
