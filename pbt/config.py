"""Every option of population-based training, declared once, as in mpi_es.config.run."""

from dataclasses import dataclass
from typing import Annotated, Literal

import tyro

from mpi_es.config.fields import Count, Free, Natural, Range, check_ranges
from mpi_es.errors import expected


@dataclass(frozen=True)
class Config:
    """Train a population of agents whose weak members copy the strong, on all ranks of an MPI job."""

    # The members
    member: str = "toy"
    """toy, sb3 (Stable-Baselines3), es (a run of mpi_es), or package.module:Class"""
    env: str = "CartPole-v1"
    """A gymnasium id, package.module:make, a function that returns an environment, or envpool:ID"""
    env_options: tuple[str, ...] = ()
    """What the environment is made with: name=value, as its documentation calls it"""
    held_out_env_options: tuple[str, ...] = ()
    """What the held-out environment is made with instead, such as unseen levels; empty is --env-options"""
    algorithm: str = "PPO"
    """Of sb3: A2C, DDPG, DQN, PPO, SAC, TD3, or one of sb3_contrib"""
    member_options: tuple[str, ...] = ()
    """What a member is made with: name=value, as the algorithm (es: mpi_es.train) calls it"""
    obs_norm: bool = False
    """Normalise the observations of sb3 members; their statistics travel with the weights"""
    reward_norm: bool = False
    """Scale the rewards that sb3 members train on by the deviation of their returns"""
    num_envs: Count = 1
    """Environments that an sb3 member steps side by side"""
    num_agents: Annotated[Count, tyro.conf.arg(aliases=("--population-size",))] = 8
    """Members of the population; ranks hold one, several or none"""
    seed: Natural = 1143
    """Seed of every random number of the run"""

    # A generation
    steps: Count = 5000
    """Steps that a member trains between two selections: of its environments, or generations of es"""
    max_iter: Annotated[Free[Count], tyro.conf.arg(aliases=("--generations",))] = 100
    """Generations after which the run ends"""
    num_rollouts: Count = 10
    """Episodes that a member is scored on in each generation, on the same seeds as the others"""
    selection: str = "truncation"
    """truncation, winner-takes-all or tournament"""
    fraction: Annotated[float, Range(0, 0.5, with_low=False)] = 0.25
    """Truncation: so many at the bottom copy from so many at the top, a share of the population"""
    copy: Literal["all", "weights", "nothing"] = "all"
    """What the weak copy: weights and hyperparameters, weights only, or nothing (they still explore)"""
    explore: bool = True
    """Change the hyperparameters of those that copied"""
    resample: Annotated[float, Range(0, 1)] = 0.25
    """Probability that a hyperparameter is drawn anew; otherwise it is multiplied by 0.8 or 1.2"""
    tune: tuple[str, ...] = ()
    """Hyperparameters under training: name, or name=low:high; none are all that a member declares"""
    baseline: bool = False
    """Train the members independently, without selection"""

    # The winner
    eval_every: Free[Natural] = 0
    """Generations between held-out evaluations of the best member; 0 evaluates at the end only"""
    num_eval_rollouts: Free[Count] = 100
    """Episodes of a held-out evaluation, on seeds that training and selection never draw"""

    # The machine
    exchange: Free[Literal["auto", "collective", "point-to-point"]] = "auto"
    """How states travel; the outcome is the same, and auto takes the one that measured faster"""
    ranks_per_member: Free[Count] = 1
    """Ranks that train a member of es together, at least, where a job has so many"""

    # The run
    run_dir: str = ""
    """Directory of the run; empty is runs/pbt-MEMBER-SEED, with the environment where there is one"""
    on_rank_loss: Free[Literal["auto", "shrink", "abort"]] = "auto"
    """When a rank dies the others go on, or the job ends; auto: they go on where MPI lets them"""
    checkpoint_every: Free[Count] = 1
    """Generations between checkpoints; a signal saves at once, a kill loses at most these"""
    tensorboard: Free[bool] = True
    """Write TensorBoard events into the run's directory"""
    console: Free[Literal["auto", "live", "lines", "silent"]] = "auto"
    """A live table, a line for each generation, or nothing; auto is live on a terminal"""
    plot: Free[bool] = False
    """Draw scores, hyperparameters and family tree at the end; of toy, the paper's figure 2"""

    def __post_init__(self) -> None:
        """Refuse values that no run can have."""
        check_ranges(self)
        if self.copy == "nothing" and not self.explore and not self.baseline:
            raise expected(
                "--copy", "all or weights where nobody explores; --baseline does neither", self.copy
            )

    @property
    def directory(self) -> str:
        """The directory of the run."""
        env = "" if self.member == "toy" else "-" + self.env.replace("/", "-").replace(":", "-")
        return self.run_dir or f"runs/pbt-{self.member.replace(':', '-')}{env}-{self.seed}"
