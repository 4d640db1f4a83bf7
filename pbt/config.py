"""All options of population-based training, each declared once, as in mpi_es.config.run."""

from dataclasses import dataclass
from typing import Annotated, Literal

from mpi_es.config.fields import Alias, Count, Free, Group, Natural, NotNegative, Of, Range, check_ranges
from mpi_es.errors import expected

_SELECTING = Of("selection", "truncation", "winner-takes-all", "tournament", "mf-pbt")


@dataclass(frozen=True)
class Config:
    """Train a population of agents on all ranks of an MPI job; weak members copy strong ones."""

    member: Annotated[str, Group("Members")] = "toy"
    """toy, sb3 (Stable-Baselines3), es (a run of mpi_es), or package.module:Class"""
    env: str = "CartPole-v1"
    """A gymnasium id, package.module:make (a function that returns an environment), or envpool:ID"""
    env_options: tuple[str, ...] = ()
    """Arguments of the environment: name=value, as in its documentation"""
    held_out_env_options: tuple[str, ...] = ()
    """Arguments of the held-out environment, such as unseen levels; empty: those of --env-options"""
    algorithm: str = "PPO"
    """Algorithm of sb3 members: A2C, DDPG, DQN, PPO, SAC, TD3, or one of sb3_contrib"""
    member_options: tuple[str, ...] = ()
    """Arguments of the algorithm, or options of mpi_es.train for es members: name=value"""
    obs_norm: bool = False
    """Normalise the observations of sb3 and es members; their statistics are copied with the weights"""
    reward_norm: bool = False
    """Divide the training rewards of sb3 members by the standard deviation of discounted returns"""
    num_envs: Count = 1
    """Environments that an sb3 member steps in parallel"""
    num_agents: Annotated[Count, Alias("--population-size")] = 8
    """Number of members; a rank holds one, several or none"""
    seed: Natural = 1143
    """Seed of all random numbers of the run"""

    steps: Annotated[Count, Group("Generation")] = 5000
    """Training steps of a member per generation: environment steps, or generations of es"""
    max_iter: Annotated[Free[Count], Alias("--generations")] = 100
    """Number of generations after which the run ends"""
    num_rollouts: Count = 10
    """Number of episodes that score a member in a generation; all members play the same seeds"""
    selection: Literal["truncation", "winner-takes-all", "tournament", "mf-pbt", "none"] = "truncation"
    """Who copies whom; none: members train independently"""
    fraction: Annotated[float, Range(0, 0.5, with_low=False), Of("selection", "truncation", "mf-pbt")] = 0.25
    """Share of the population (mf-pbt: of each sub-population) that copies, and share that it copies from"""
    periods: Annotated[tuple[int, ...], Of("selection", "mf-pbt")] = (1, 5)
    """mf-pbt: the number of generations between selections, for each sub-population"""
    copy: Annotated[Literal["all", "weights", "nothing"], _SELECTING] = "all"
    """What weak members copy: weights and hyperparameters, weights, or nothing (they still explore)"""
    explore: Annotated[Literal["perturb", "pb2", "none"], _SELECTING] = "perturb"
    """How members that copied change hyperparameters: by factors, by PB2's bandit, or not at all"""
    resample: Annotated[float, Range(0, 1), _SELECTING, Of("explore", "perturb")] = 0.25
    """perturb: probability of a new draw; otherwise a hyperparameter is perturbed, by a factor 0.8 or 1.2"""
    tune: tuple[str, ...] = ()
    """Hyperparameters to tune: name, or name=low:high; empty: all that are declared; none: nothing"""

    eval_every: Annotated[Free[Natural], Group("Held-out evaluations")] = 0
    """Generations between held-out evaluations of the best member; 0: only at the end"""
    num_eval_rollouts: Free[Count] = 100
    """Number of episodes of a held-out evaluation, on seeds that training and selection never use"""

    ranks_per_member: Annotated[Free[Count], Group("Machine")] = 1
    """Minimum number of ranks that train an es member together, if the job has enough"""

    run_dir: Annotated[str, Group("Run")] = ""
    """Directory of the run; empty: runs/pbt-MEMBER-ENV-SEED, for toy runs/pbt-toy-SEED"""
    on_rank_loss: Free[Literal["auto", "shrink", "abort"]] = "auto"
    """When a rank dies, the others continue (shrink) or the job ends; auto: shrink if MPI can"""
    checkpoint_interval: Free[NotNegative] = 5.0
    """Minimum seconds between saves; 0: save every generation. Signals save at once"""
    tensorboard: Free[bool] = True
    """Write TensorBoard events into the directory of the run"""
    callback: Free[str] = ""
    """package.module:Class, called on rank 0 after each generation; if it returns True, the run stops"""
    console: Free[Literal["auto", "live", "lines", "silent"]] = "auto"
    """Live panel, one line per generation, or nothing; auto: live on a terminal, else lines"""

    def __post_init__(self) -> None:
        """Refuse invalid values and combinations."""
        check_ranges(self)
        if self.copy == "nothing" and self.explore == "none" and self.selection != "none":
            rule = "all or weights with --explore none; --selection none does neither"
            raise expected("--copy", rule, self.copy)
        if not self.periods or min(self.periods) < 1 or len(set(self.periods)) < len(self.periods):
            raise expected("--periods", "distinct whole numbers ≥ 1", self.periods)
        # One that is copied, one that copies, one that may migrate, one that stays.
        least = 4 * len(self.periods)
        if self.selection == "mf-pbt" and self.num_agents < least:
            raise expected("--num-agents", f"≥ {least}, 4 for each of --periods", self.num_agents)

    @property
    def trained(self) -> str:
        """What the run trains, in short."""
        if self.member == "toy" or ":" in self.member:
            return self.member
        return f"{self.algorithm if self.member == 'sb3' else 'OpenAI-ES'} on {self.env}"

    @property
    def extra(self) -> str:
        """The extra of mpi_es that installs the members; empty if none is needed."""
        return "pbt" if self.member == "sb3" else ""

    @property
    def directory(self) -> str:
        """The directory of the run."""
        env = "" if self.member == "toy" else "-" + self.env.replace("/", "-").replace(":", "-")
        return self.run_dir or f"runs/pbt-{self.member.replace(':', '-')}{env}-{self.seed}"
