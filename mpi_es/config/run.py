"""Every option, declared once: the command line, the run file, the resume check and the README read it."""

import math
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import tyro

from mpi_es.config.fields import (
    Count,
    Decay,
    Fraction,
    Free,
    Natural,
    Needs,
    NotNegative,
    Of,
    Positive,
    Range,
    Unless,
    check_ranges,
    of_policy,
    of_strategy,
    option,
)
from mpi_es.errors import expected

Layout = Literal["auto", "torch", "paper"]
_COMPILED = Of("env", ("mpi_es/CarRacing-v3",))  # whose episodes with the attention agent are compiled


def _alias(*names: str) -> Any:
    """Accept the names that the systems we replace give an option."""
    return tyro.conf.arg(aliases=names)


@dataclass(frozen=True)
class Config:
    """Evolve a neural-network policy with CMA-ES, OpenAI-ES or PEPG on all ranks of an MPI job."""

    # The problem
    env: Annotated[str, _alias("--env-name", "--env-id")] = "CartPole-v1"
    """A gymnasium id, or package.module:make, a function that returns an environment"""
    env_options: tuple[str, ...] = ()
    """What the environment is made with: name=value, as its documentation calls it"""
    held_out_env_options: tuple[str, ...] = ()
    """What the held-out environment is made with instead; empty is --env-options"""
    policy: str = "mlp"
    """mlp, rnn, lstm, gru, attention, or package.module:Class of a torch module"""
    hidden: Annotated[tuple[int, ...], of_policy("mlp", "rnn", "lstm", "gru", "attention")] = (64, 64)
    """Widths of the hidden layers; a recurrent policy and the attention agent have one"""
    activation: Annotated[Literal["tanh", "relu", "selu"], of_policy("mlp", "rnn")] = "tanh"
    """Nonlinearity of the hidden layers of an mlp and of an rnn"""
    output: Literal["auto", "argmax", "tanh", "clip"] = "auto"
    """From outputs to actions: auto is argmax if they are discrete, else tanh scaled to the bounds"""
    obs_norm: bool = False
    """Normalise observations by the mean and deviation of all that were seen in training"""
    seed: Natural = 1143
    """Seed of every random number of the run"""

    # The attention agent
    query_dim: Annotated[Count, of_policy("attention")] = 4
    """Width of the attention agent's queries and keys"""
    bias: Annotated[bool, of_policy("attention")] = True
    """Give the attention agent's queries and keys a bias"""
    controller: Annotated[Literal["lstm", "rnn", "mlp"], of_policy("attention")] = "lstm"
    """What the attention agent answers with; rnn and mlp are of relu"""
    num_frames: Annotated[Count, of_policy("attention")] = 1
    """Last frames whose patches an mlp controller reads"""
    patch_size: Annotated[Count, of_policy("attention")] = 7
    """Pixels of a side of the attention agent's patches"""
    stride: Annotated[Count, of_policy("attention")] = 4
    """Pixels from one patch of the attention agent to the next"""
    top_k: Annotated[Count, of_policy("attention")] = 10
    """Patches that the attention agent's controller learns of"""

    # Where it begins
    from_pretrained: str = ""
    """Run, run.h5 or npz file whose agent the mean begins with; mpi_es.evaluate tells what one scores"""
    evolve: str = "all"
    """all, or the part that evolves while the rest stays fixed: attention, controller, controller.fc"""
    base_from_pretrained: str = ""
    """Run, run.h5 or npz file from which the parts are taken that stay fixed"""
    layout: Annotated[Layout, Needs(("from_pretrained", "base_from_pretrained"))] = "auto"
    """Order of the numbers in an npz file that does not tell it; auto drives with both"""

    # The strategy
    strategy: str = "cma_es"
    """cma_es, openai_es or pepg"""
    population_size: Annotated[Count, _alias("--n", "--popsize")] = 32
    """Candidates in a generation"""
    init_sigma: Annotated[Positive, _alias("--sigma")] = 0.1
    """Standard deviation of the first population around its mean"""
    max_iter: Annotated[Free[Count], _alias("--max-gradient-updates")] = 2000
    """Generations after which the run ends"""
    cma_variant: Annotated[Literal["auto", "full", "separable", "vd", "vkd"], of_strategy("cma_es")] = "auto"
    """Covariance of cma_es: auto takes full where a generation stays cheap, else separable"""
    root_threads: Annotated[Count, of_strategy("cma_es")] = 1
    """Threads of linear algebra in cma_es's ask and tell; each number of them rounds in its own way"""
    shaping: Annotated[
        Literal["centered", "log-rank", "standardized", "raw"], of_strategy("openai_es", "pepg")
    ] = "centered"
    """What openai_es and pepg make of the fitness before they use it"""
    optimizer: Annotated[Literal["adam", "sgd", "clipup"], of_strategy("openai_es", "pepg")] = "adam"
    """What openai_es and pepg do with the gradient"""
    learning_rate: Annotated[Positive, _alias("--lr"), of_strategy("openai_es", "pepg")] = 0.01
    """Step of the optimizer"""
    lr_decay: Annotated[Decay, _alias("--decay"), of_strategy("openai_es", "pepg")] = 1.0
    """Factor on the learning rate after each generation"""
    lr_min: Annotated[NotNegative, of_strategy("openai_es", "pepg"), Unless("lr_decay", 1.0)] = 0.0
    """The learning rate decays no further than this"""
    sigma_decay: Annotated[Decay, of_strategy("openai_es")] = 1.0
    """Factor on sigma after each generation (openai_es)"""
    sigma_min: Annotated[NotNegative, of_strategy("openai_es", "pepg")] = 0.0
    """Sigma (openai_es) or any parameter's own (pepg) becomes no smaller than this"""
    momentum: Annotated[Fraction, of_strategy("openai_es", "pepg"), Of("optimizer", ("sgd", "clipup"))] = 0.9
    """Momentum of sgd and clipup"""
    max_speed: Annotated[NotNegative, of_strategy("openai_es", "pepg"), Of("optimizer", ("clipup",))] = 0.0
    """Largest norm of a step of clipup; 0 is twice the learning rate"""
    weight_decay: Annotated[NotNegative, of_strategy("openai_es", "pepg")] = 0.0
    """Pull of openai_es and pepg towards zero, a share of the parameters"""
    sigma_learning_rate: Annotated[NotNegative, of_strategy("pepg")] = 0.1
    """Step of pepg's standard deviations"""
    sigma_max_change: Annotated[Fraction, of_strategy("pepg")] = 0.2
    """Largest relative change of one of pepg's standard deviations in a generation"""
    noise_table: Annotated[Natural, of_strategy("openai_es")] = 0
    """Numbers in the noise table of openai_es, shared by the ranks of a node; 0 computes the noise"""

    # The evaluation
    num_rollouts: Count = 1
    """Episodes of each candidate in a generation"""
    episode_seeds: Literal["independent", "common", "paired"] = "independent"
    """Episodes differ between candidates, are common to all, or are shared by mirrored pairs"""
    episode_cap: Annotated[Natural, _alias("--max-episode-length")] = 0
    """Steps after which a training episode is cut; 0 leaves the environment's own limit"""
    variable_ep_len: bool = False
    """Cut training episodes at twice the mean length of the last generation's"""
    early_stop: Natural = 0
    """Cut a training episode after more than so many steps in a row of negative reward; 0 never does"""
    action_noise: NotNegative = 0.0
    """Standard deviation of the noise added to continuous actions in training"""
    track_mean: bool = True
    """Evaluate the unperturbed mean beside the population, to know its rank among them"""
    eval_every: Free[Natural] = 10
    """Generations between held-out evaluations of the mean; 0 evaluates at the end only"""
    num_eval_rollouts: Free[Count] = 64
    """Episodes of a held-out evaluation"""
    target_fitness: Annotated[Free[float | None], Range(-math.inf), _alias("--reward-goal")] = None
    """Stop when held-out evaluations reach this mean"""
    target_consecutive: Annotated[
        Free[Count], _alias("--consecutive-goal-stopping"), Needs(("target_fitness",))
    ] = 1
    """Successive held-out evaluations that must reach the target"""

    # The machine
    dispatch: Free[Literal["static", "dynamic"]] = "dynamic"
    """Give every rank its share beforehand, or episodes as ranks come free; the results are the same"""
    dedicated_root: Free[Literal["auto", "yes", "no"]] = "auto"
    """Whether rank 0 leaves evaluation to the others; auto does so from 128 ranks, if dispatch is dynamic"""
    envs_per_rank: Free[Count] = 16
    """Episodes that a rank runs side by side, so that one call serves the networks of all"""

    threads_per_rank: Annotated[Free[Count], of_policy("attention"), _COMPILED, Unless("compiled", False)] = 1
    """Episodes that a rank runs at once in threads, where they run in compiled code"""
    compiled: Annotated[Free[bool], of_policy("attention"), _COMPILED] = True
    """Run whole episodes in compiled code where policy and environment have it; the results are the same"""
    evaluation_timeout: Free[NotNegative] = 0.0
    """Seconds in which no episode of a rank begins or ends, after which it counts as hung; 0 never"""
    on_rank_loss: Free[Literal["auto", "shrink", "abort"]] = "auto"
    """When a rank dies the others go on, or the job ends; auto: they go on where MPI lets them"""

    # The run
    run_dir: Annotated[str, _alias("--logs-dir", "--save-path")] = ""
    """Directory of the run, {seed} for the seed in it; empty is runs/ENV-STRATEGY-SEED"""
    checkpoint_every: Free[Count] = 1
    """Generations between checkpoints; a signal saves at once, a kill loses at most these"""
    tensorboard: Free[bool] = True
    """Write TensorBoard events into the run's directory"""
    console: Free[Literal["auto", "live", "lines", "silent"]] = "auto"
    """A live panel, a line for each generation, or nothing; auto is live on a terminal"""

    def __post_init__(self) -> None:
        """Refuse values that no run can have."""
        check_ranges(self)
        if any(width < 1 for width in self.hidden):
            raise expected("--hidden", "widths above 0, or none for a linear policy", self.hidden)
        if self.base_from_pretrained and self.evolve == "all":
            rule = "nothing, where all evolves"
            raise expected("--base-from-pretrained", rule, self.base_from_pretrained, "use --evolve PART")
        if self.num_frames > 1 and self.controller != "mlp":
            raise expected("--num-frames", "1 for a controller that remembers", self.num_frames)
        if self.strategy == "cma_es" and self.episode_seeds == "paired":
            rule = "independent or common for a strategy without mirrored pairs"
            raise expected("--episode-seeds", rule, self.episode_seeds)
        self._check_floors()

    def _check_floors(self) -> None:
        for floor, start in (("lr_min", "learning_rate"), ("sigma_min", "init_sigma")):
            if getattr(self, floor) > getattr(self, start):
                rule = f"no more than {option(start)} {getattr(self, start)}"
                raise expected(option(floor), rule, getattr(self, floor))

    @property
    def held_out(self) -> "Config":
        """The config of the run's held-out episodes."""
        made_with = self.held_out_env_options or self.env_options
        return replace(self, env_options=made_with, held_out_env_options=())

    @property
    def directory(self) -> str:
        """The directory of the run."""
        env = self.env.replace("/", "-").replace(":", "-")
        return self.run_dir.replace("{seed}", str(self.seed)) or f"runs/{env}-{self.strategy}-{self.seed}"
