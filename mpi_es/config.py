"""Every option, declared once: the command line, the run file, the resume check and the README read it."""

from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal, TypeVar, get_type_hints

import tyro

from mpi_es.errors import expected

CHANGEABLE = "may be changed when a run is resumed"
T = TypeVar("T")
Free = Annotated[T, CHANGEABLE]  # changing it does not change what is learnt


def _alias(*names: str) -> Any:
    """Accept the names that the systems we replace give an option."""
    return tyro.conf.arg(aliases=names)


@dataclass(frozen=True)
class Config:
    """Evolve a neural-network policy with CMA-ES, OpenAI-ES or PEPG on all ranks of an MPI job."""

    # The problem
    env: Annotated[str, _alias("--env-name", "--env-id")] = "CartPole-v1"
    """A gymnasium id, or package.module:make, a function that returns an environment"""
    policy: str = "mlp"
    """mlp, rnn, lstm, gru, or package.module:Class of a torch module"""
    hidden: tuple[int, ...] = (64, 64)
    """Widths of the hidden layers; a recurrent policy has one"""
    activation: Literal["tanh", "relu", "selu"] = "tanh"
    """Nonlinearity of the hidden layers of an mlp and of an rnn"""
    output: Literal["auto", "argmax", "tanh", "clip"] = "auto"
    """From outputs to actions: auto is argmax if they are discrete, else tanh scaled to the bounds"""
    obs_norm: bool = False
    """Normalise observations by the mean and deviation of all that were seen in training"""
    seed: int = 1143
    """Seed of every random number of the run"""

    # The strategy
    strategy: str = "cma_es"
    """cma_es, openai_es or pepg"""
    population_size: Annotated[int, _alias("--n", "--popsize")] = 32
    """Candidates in a generation"""
    init_sigma: Annotated[float, _alias("--sigma")] = 0.1
    """Standard deviation of the first population around its mean"""
    max_iter: Annotated[Free[int], _alias("--max-gradient-updates")] = 2000
    """Generations after which the run ends"""
    cma_variant: Literal["auto", "full", "separable", "vd", "vkd"] = "auto"
    """Covariance of cma_es: auto takes full where a generation stays cheap, else separable"""
    shaping: Literal["centered", "log-rank", "standardized", "raw"] = "centered"
    """What openai_es and pepg make of the fitness before they use it"""
    optimizer: Literal["adam", "sgd", "clipup"] = "adam"
    """What openai_es and pepg do with the gradient"""
    learning_rate: Annotated[float, _alias("--lr")] = 0.01
    """Step of the optimizer"""
    lr_decay: Annotated[float, _alias("--decay")] = 1.0
    """Factor on the learning rate after each generation"""
    lr_min: float = 0.0
    """The learning rate decays no further than this"""
    sigma_decay: float = 1.0
    """Factor on sigma after each generation (openai_es)"""
    sigma_min: float = 0.0
    """Sigma decays no further than this"""
    momentum: float = 0.9
    """Momentum of sgd and clipup"""
    max_speed: float = 0.0
    """Largest norm of a step of clipup; 0 is twice the learning rate"""
    weight_decay: float = 0.0
    """Pull of openai_es and pepg towards zero, a share of the parameters"""
    sigma_learning_rate: float = 0.1
    """Step of pepg's standard deviations"""
    sigma_max_change: float = 0.2
    """Largest relative change of one of pepg's standard deviations in a generation"""
    noise_table: int = 0
    """Numbers in the noise table of openai_es, shared by the ranks of a node; 0 computes the noise"""

    # The evaluation
    num_rollouts: int = 1
    """Episodes of each candidate in a generation"""
    episode_seeds: Literal["independent", "common", "paired"] = "independent"
    """Episodes differ between candidates, are common to all, or are shared by mirrored pairs"""
    episode_cap: Annotated[int, _alias("--max-episode-length")] = 0
    """Steps after which a training episode is cut; 0 leaves the environment's own limit"""
    variable_ep_len: bool = False
    """Cut training episodes at twice the mean length of the last generation's"""
    action_noise: float = 0.0
    """Standard deviation of the noise added to continuous actions in training"""
    track_mean: bool = True
    """Evaluate the unperturbed mean beside the population, to know its rank among them"""
    eval_every: Free[int] = 10
    """Generations between held-out evaluations of the mean; 0 evaluates at the end only"""
    num_eval_rollouts: Free[int] = 64
    """Episodes of a held-out evaluation"""
    target_fitness: Annotated[Free[float | None], _alias("--reward-goal")] = None
    """Stop when held-out evaluations reach this mean"""
    target_consecutive: Annotated[Free[int], _alias("--consecutive-goal-stopping")] = 1
    """Successive held-out evaluations that must reach the target"""

    # The machine
    dispatch: Free[Literal["static", "dynamic"]] = "dynamic"
    """Give every rank its share beforehand, or episodes as ranks come free; the results are the same"""
    dedicated_root: Free[Literal["auto", "yes", "no"]] = "auto"
    """Whether rank 0 leaves evaluation to the others; auto chooses from the number of ranks"""
    envs_per_rank: Free[int] = 16
    """Episodes that a rank runs side by side, so that one call serves the networks of all"""

    # The run
    run_dir: Annotated[Free[str], _alias("--logs-dir", "--save-path")] = ""
    """Directory of the run; empty is runs/ENV-STRATEGY-SEED"""
    checkpoint_every: Free[int] = 1
    """Generations between checkpoints; a signal saves at once, a kill loses at most these"""
    tensorboard: Free[bool] = True
    """Write TensorBoard events into the run's directory"""
    console: Free[Literal["auto", "live", "lines", "silent"]] = "auto"
    """A live panel, a line for each generation, or nothing; auto is live on a terminal"""

    def __post_init__(self) -> None:
        """Refuse values that no run can have."""
        for name in (
            "population_size",
            "max_iter",
            "num_rollouts",
            "num_eval_rollouts",
            "envs_per_rank",
        ):
            _at_least(self, name, 1)
        for name in ("target_consecutive", "checkpoint_every"):
            _at_least(self, name, 1)
        for name in ("seed", "eval_every", "episode_cap", "noise_table"):
            _at_least(self, name, 0)
        for name in ("init_sigma", "learning_rate", "lr_decay", "sigma_decay"):
            if not getattr(self, name) > 0:
                raise expected(_option(name), "a number above 0", getattr(self, name))
        for name in ("lr_min", "sigma_min", "weight_decay", "action_noise", "max_speed"):
            if not getattr(self, name) >= 0:
                raise expected(_option(name), "a number of 0 or more", getattr(self, name))
        if any(width < 1 for width in self.hidden):
            raise expected("--hidden", "widths above 0, or none for a linear policy", self.hidden)
        if not 0 <= self.momentum < 1:
            raise expected("--momentum", "a number in [0, 1)", self.momentum)

    @property
    def directory(self) -> str:
        """The directory of the run."""
        env = self.env.replace("/", "-").replace(":", "-")
        return self.run_dir or f"runs/{env}-{self.strategy}-{self.seed}"


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def _at_least(config: Config, name: str, least: int) -> None:
    if not getattr(config, name) >= least:
        raise expected(_option(name), f"a whole number of {least} or more", getattr(config, name))


def changeable(cls: type) -> set[str]:
    """Return the fields that may differ when a run is resumed."""
    hints = get_type_hints(cls, include_extras=True)
    return {f.name for f in fields(cls) if CHANGEABLE in getattr(hints[f.name], "__metadata__", ())}
