"""All options, each declared once: command line, run file, resume check and docs are read from here."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import tyro

from mpi_es.config.fields import (
    AtLeastOne,
    Count,
    Decay,
    Fraction,
    Free,
    Natural,
    Needs,
    NotNegative,
    Of,
    Positive,
    Proper,
    Range,
    Share,
    Unless,
    check_ranges,
    of_policy,
    of_strategy,
    option,
)
from mpi_es.errors import expected

Layout = Literal["auto", "torch", "paper"]
_ENVIRONMENT = Of("function", ("",))  # a mark: of policies and environments, not of functions
_FUNCTION = Needs(("function",))
_COMPILED = Of("env", ("mpi_es/CarRacing-v3",))  # whose episodes with the attention agent are compiled


def _alias(*names: str) -> Any:
    """Accept other systems' names of an option."""
    return tyro.conf.arg(aliases=names)


@dataclass(frozen=True)
class Config:
    """Evolve a neural-network policy with CMA-ES, OpenAI-ES, PEPG, SNES … on all ranks of an MPI job."""

    # Problem
    env: Annotated[str, _alias("--env-name", "--env-id"), _ENVIRONMENT] = "CartPole-v1"
    """A gymnasium id; package.module:make, which returns an environment; envpool:ID; or vector:ID"""
    env_options: Annotated[tuple[str, ...], _ENVIRONMENT] = ()
    """Arguments of the environment: name=value, as in its documentation"""
    held_out_env_options: Annotated[tuple[str, ...], _ENVIRONMENT] = ()
    """Arguments of the environment of held-out episodes; empty: those of --env-options"""
    policy: Annotated[str, _ENVIRONMENT] = "mlp"
    """mlp, rnn, lstm, gru, attention, or package.module:Class, a torch module"""
    policy_options: Annotated[tuple[str, ...], _ENVIRONMENT] = ()
    """Arguments of your own policy: name=value, keywords of its constructor"""
    hidden: Annotated[tuple[int, ...], _ENVIRONMENT, of_policy("mlp", "rnn", "lstm", "gru", "attention")] = (
        64,
        64,
    )
    """Widths of the hidden layers; recurrent policies and the attention agent have one layer"""
    activation: Annotated[Literal["tanh", "relu", "selu"], _ENVIRONMENT, of_policy("mlp", "rnn")] = "tanh"
    """Activation function of the hidden layers of mlp and rnn"""
    output: Annotated[Literal["auto", "argmax", "tanh", "clip"], _ENVIRONMENT] = "auto"
    """From network outputs to actions; auto: argmax for discrete actions, else tanh scaled to the bounds"""
    obs_norm: Annotated[bool, _ENVIRONMENT] = False
    """Normalise observations by mean and deviation of all observations of the training"""
    seed: Natural = 1143
    """Seed of all random numbers of the run"""

    # Function, instead of a policy in an environment
    function: str = ""
    """package.module:f, a function to evolve instead of a policy: f(x), or f(x, seed) of random ones"""
    x0: Annotated[tuple[float, ...], _FUNCTION] = ()
    """Where the search of a function begins; with --dim, one number stands for all"""
    dim: Annotated[Natural, _FUNCTION] = 0
    """Number of parameters of a function; 0: as many as --x0 has"""
    bounds: Annotated[tuple[float, ...], _FUNCTION] = ()
    """Lower and upper bound of a function's parameters, which are reflected there"""
    minimise: Annotated[bool, _FUNCTION] = False
    """Minimise the function instead of maximising it"""

    # Attention agent
    query_dim: Annotated[Count, of_policy("attention")] = 4
    """Width of the attention agent's queries and keys"""
    bias: Annotated[bool, of_policy("attention")] = True
    """Give the attention agent's queries and keys a bias"""
    controller: Annotated[Literal["lstm", "rnn", "mlp"], of_policy("attention")] = "lstm"
    """Controller network of the attention agent: LSTM, or RNN or MLP with ReLU"""
    num_frames: Annotated[Count, of_policy("attention")] = 1
    """Number of most recent frames whose patches the mlp controller reads"""
    patch_size: Annotated[Count, of_policy("attention")] = 7
    """Side of the attention agent's patches, in pixels"""
    stride: Annotated[Count, of_policy("attention")] = 4
    """Distance between two patches of the attention agent, in pixels"""
    top_k: Annotated[Count, of_policy("attention")] = 10
    """Number of most important patches that the attention agent's controller reads"""
    patch_order: Annotated[Literal["importance", "column"], of_policy("attention")] = "importance"
    """Order of these patches: the most important first, or from left to right, by column"""

    # Start
    from_pretrained: Annotated[str, _ENVIRONMENT] = ""
    """Run, run.h5 or npz file with the agent at which the search begins"""
    init_last_layer: Annotated[
        NotNegative,
        _ENVIRONMENT,
        of_policy("mlp", "rnn", "lstm", "gru"),
        Of("from_pretrained", ("",)),
    ] = 1.0
    """Factor on the initial parameters of the last layer, as torch draws them; 0: outputs begin at 0"""
    init_outputs: Annotated[
        tuple[float, ...],
        _ENVIRONMENT,
        of_policy("mlp", "rnn", "lstm", "gru", "attention"),
        Of("from_pretrained", ("",)),
    ] = ()
    """Initial biases of the last layer, one for each output, before any tanh; empty: as torch draws them"""
    evolve: Annotated[str, _ENVIRONMENT] = "all"
    """all, or the part that evolves while the rest stays fixed: attention, controller, controller.fc …"""
    base_from_pretrained: Annotated[str, _ENVIRONMENT] = ""
    """Run, run.h5 or npz file with the parts that stay fixed"""
    layout: Annotated[Layout, Needs(("from_pretrained", "base_from_pretrained"))] = "auto"
    """Order of the parameters in an npz file that does not name it; auto tries both on CarRacing"""

    # Strategy
    strategy: str = "cma_es"
    """cma_es, openai_es, pepg, snes, cr_fm_nes, ga, or package.module:Class"""
    population_size: Annotated[Count, _alias("--n", "--popsize")] = 32
    """Number of candidates in a generation"""
    num_interactions: Annotated[Natural, of_strategy("openai_es", "pepg", "snes"), _ENVIRONMENT] = 0
    """Steps of a generation: the population grows by --population-size until then; 0: a fixed population"""
    popsize_max: Annotated[Natural, Unless("num_interactions", 0)] = 0
    """Number of candidates at which a generation of --num-interactions ends; 0: only steps end it"""
    init_sigma: Annotated[Positive, _alias("--sigma")] = 0.1
    """Standard deviation of the first population"""
    max_iter: Annotated[Free[Count], _alias("--max-gradient-updates")] = 2000
    """Number of generations after which the run ends"""
    # CMA-ES, and restarts of every strategy
    cma_variant: Annotated[
        Literal["auto", "full", "separable", "isotropic", "vd", "vkd"], of_strategy("cma_es")
    ] = "auto"
    """Covariance matrix of cma_es; auto: full if its update is cheap, else separable; isotropic: fixed"""
    sigma_rule: Annotated[Literal["auto", "csa", "two-point", "constant"], of_strategy("cma_es")] = "auto"
    """Step-size rule of cma_es: path length (csa) or two points; auto: csa below 300 parameters"""
    restarts: Annotated[Literal["none", "ipop", "bipop"], of_strategy("cma_es")] = "none"
    """Restart cma_es when it stops, with twice the candidates; bipop: alternately many and few"""
    restart_if_below: Annotated[float | None, Range(-math.inf)] = None
    """Restart from another draw if the mean fitness of the population stays below this"""
    restart_after: Annotated[Count, Needs(("restart_if_below",))] = 40
    """Number of generations after which --restart-if-below decides"""
    root_threads: Annotated[Count, of_strategy("cma_es")] = 1
    """Threads of the linear algebra of cma_es; the number changes the rounding"""
    # Gradient: steps of OpenAI-ES and PEPG, and of SNES's centre
    shaping: Annotated[
        Literal["centered", "log-rank", "standardized", "raw"], of_strategy("openai_es", "pepg")
    ] = "centered"
    """Transformation of the fitness in openai_es and pepg"""
    optimizer: Annotated[Literal["adam", "sgd", "clipup"], of_strategy("openai_es", "pepg")] = "adam"
    """Optimizer that applies the gradient of openai_es and pepg"""
    learning_rate: Annotated[Positive, _alias("--lr"), of_strategy("openai_es", "pepg")] = 0.01
    """Learning rate of the optimizer"""
    centre_learning_rate: Annotated[Positive, _alias("--center-learning-rate"), of_strategy("snes")] = 1.0
    """Factor on the steps of the centre in snes, 1 in the paper; a larger one leaves a flat start sooner"""
    lr_decay: Annotated[Decay, _alias("--decay"), of_strategy("openai_es", "pepg", "snes")] = 1.0
    """Factor on the learning rate after each generation"""
    lr_min: Annotated[NotNegative, of_strategy("openai_es", "pepg", "snes"), Unless("lr_decay", 1.0)] = 0.0
    """Lower bound of the decaying learning rate"""
    sigma_decay: Annotated[Decay, of_strategy("openai_es", "ga")] = 1.0
    """Factor on sigma after each generation, in openai_es and ga"""
    sigma_min: Annotated[NotNegative, of_strategy("openai_es", "pepg", "ga")] = 0.0
    """Lower bound of sigma in openai_es and ga, and of each parameter's sigma in pepg"""
    # Optimizer, and what PEPG, GA and OpenAI-ES have alone
    momentum: Annotated[Fraction, of_strategy("openai_es", "pepg"), Of("optimizer", ("sgd", "clipup"))] = 0.9
    """Momentum of sgd and clipup"""
    max_speed: Annotated[NotNegative, of_strategy("openai_es", "pepg"), Of("optimizer", ("clipup",))] = 0.0
    """Largest norm of a step of clipup; 0: twice the learning rate"""
    weight_decay: Annotated[NotNegative, of_strategy("openai_es", "pepg")] = 0.0
    """Weight decay of openai_es and pepg, as a share of the parameters"""
    sigma_learning_rate: Annotated[NotNegative, of_strategy("pepg")] = 0.1
    """Learning rate of the standard deviations in pepg"""
    sigma_max_change: Annotated[Fraction, of_strategy("pepg")] = 0.2
    """Largest relative change of a standard deviation in one generation of pepg"""
    parents: Annotated[Natural, of_strategy("ga")] = 0
    """Number of best candidates that have children in ga; 0: a tenth of the population"""
    noise_table: Annotated[Natural, of_strategy("openai_es")] = 0
    """Size of the noise table of openai_es, which the ranks of a node share; 0: compute the noise"""

    # Episodes
    num_rollouts: Count = 1
    """Number of episodes of each candidate in a generation"""
    num_rollouts_max: Natural = 0
    """As many episodes as --agreement needs, from --num-rollouts up to this number; 0: a fixed number"""
    agreement: Annotated[Proper, Unless("num_rollouts_max", 0)] = 0.5
    """Rank correlation of two halves of each candidate's episodes that --num-rollouts-max aims at"""
    episode_seeds: Literal["independent", "common", "paired"] = "independent"
    """Separate seeds for each candidate, the same for all, or one set for each mirrored pair"""
    episode_cap: Annotated[Natural, _alias("--max-episode-length"), _ENVIRONMENT] = 0
    """Steps after which a training episode is cut; 0: only the environment's own limit"""
    variable_ep_len: Annotated[bool, _ENVIRONMENT] = False
    """Cut training episodes at twice their mean length in the last generation"""
    cap_growth: Annotated[AtLeastOne, _ENVIRONMENT, Unless("episode_cap", 0)] = 1.0
    """Factor on --episode-cap after a generation in which the share --cap-threshold reached it"""
    cap_threshold: Annotated[Share, _ENVIRONMENT, Unless("cap_growth", 1.0)] = 0.5
    """Share of a generation's episodes that must reach the cap before --cap-growth applies"""
    early_stop: Annotated[Natural, _ENVIRONMENT] = 0
    """Cut a training episode after more than this number of successive negative rewards; 0: never"""
    clip_rewards: Annotated[tuple[float, ...], _ENVIRONMENT] = ()
    """Lower and upper bound of an action's reward in training, as for Atari; empty: none"""
    action_repeat: Annotated[Count, _alias("--frame-skip"), _ENVIRONMENT] = 1
    """Steps of the environment that an action lasts; the policy sees the last of them"""
    action_noise: Annotated[NotNegative, _ENVIRONMENT] = 0.0
    """Standard deviation of noise on continuous actions in training"""
    # Held-out evaluations, and the target
    track_mean: bool = True
    """Evaluate the unperturbed mean with the population, and count the candidates above it"""
    eval_every: Free[Natural] = 10
    """Generations between held-out evaluations of the mean; 0: only at the end"""
    num_eval_rollouts: Free[Count] = 64
    """Number of episodes of a held-out evaluation"""
    target_fitness: Annotated[Free[float | None], Range(-math.inf), _alias("--reward-goal")] = None
    """End the run when the mean held-out return, or the value of a function f(x), reaches this"""
    target_consecutive: Annotated[
        Free[Count], _alias("--consecutive-goal-stopping"), Needs(("target_fitness",))
    ] = 1
    """Number of successive held-out evaluations, or best values of generations, that reach the target"""

    # Machine
    dispatch: Free[Literal["auto", "static", "dynamic"]] = "auto"
    """Fixed shares, or episodes to ranks as they become free; auto: static with envpool: or vector:"""
    dedicated_root: Free[Literal["auto", "yes", "no"]] = "auto"
    """Rank 0 evaluates no episodes; auto: from 128 ranks, if dispatch is dynamic"""
    envs_per_rank: Annotated[Free[Natural], _ENVIRONMENT] = 0
    """Episodes that a rank steps together; 0: 16, or 64 where one call steps them all (envpool:, vector:)"""

    threads_per_rank: Annotated[Free[Count], of_policy("attention"), _COMPILED, Unless("compiled", False)] = 1
    """Threads of a rank, each with an episode of its own, where episodes run in compiled code"""
    compiled: Annotated[Free[bool], of_policy("attention"), _COMPILED] = True
    """Run whole episodes in compiled code where policy and environment allow; results are the same"""
    evaluation_timeout: Free[NotNegative] = 0.0
    """Seconds without the start or end of an episode after which a rank is killed; 0: never"""
    on_rank_loss: Free[Literal["auto", "shrink", "abort"]] = "auto"
    """When a rank dies, the others continue or the job ends; auto: they continue where MPI can"""

    # Run
    run_dir: Annotated[str, _alias("--logs-dir", "--save-path")] = ""
    """Directory of the run, with {seed} for the seed; empty: runs/ENV-STRATEGY-SEED, or FUNCTION-…"""
    checkpoint_every: Free[Count] = 1
    """Generations between checkpoints, which a kill can lose; a signal saves the last generation"""
    tensorboard: Free[bool] = True
    """Write TensorBoard events into the directory of the run"""
    callback: Free[str] = ""
    """package.module:Class; its object is called on rank 0 after each generation"""
    console: Free[Literal["auto", "live", "lines", "silent"]] = "auto"
    """Live panel, one line for each generation, or nothing; auto: live on a terminal, else lines"""

    ALWAYS_GIVEN = ("env",)  # in a file of options and in the README: without --env the preset is carracing

    def __post_init__(self) -> None:
        """Refuse values that no run can have."""
        check_ranges(self)
        if any(width < 1 for width in self.hidden):
            raise expected("--hidden", "widths above 0, or none for a linear policy", self.hidden)
        if self.base_from_pretrained and self.evolve == "all":
            rule = "no file, since --evolve all fixes no part"
            raise expected("--base-from-pretrained", rule, self.base_from_pretrained, "use --evolve PART")
        if self.num_frames > 1 and self.controller != "mlp":
            raise expected("--num-frames", "1 with a recurrent controller", self.num_frames)
        if self.cap_growth > 1 and self.variable_ep_len:
            raise expected(
                "--cap-growth", "1 with --variable-ep-len, which sets the cap itself", self.cap_growth
            )
        if self.sigma_rule != "auto" and self.cma_variant in ("vd", "vkd"):
            raise expected("--sigma-rule", f"auto with --cma-variant {self.cma_variant}", self.sigma_rule)
        if len(self.bounds) not in (0, 2):
            raise expected("--bounds", "two numbers, the lower and the upper bound", self.bounds)
        clip = self.clip_rewards
        if clip and not (len(clip) == 2 and clip[0] < clip[1]):
            raise expected("--clip-rewards", "two numbers, the lower and the upper bound", clip)
        if self.num_rollouts_max and (self.num_rollouts % 2 or self.num_rollouts_max < self.num_rollouts):
            rule = f"an even --num-rollouts, at most --num-rollouts-max {self.num_rollouts_max}"
            raise expected("--num-rollouts-max", rule, f"--num-rollouts {self.num_rollouts}")
        self._check_floors()

    def _check_floors(self) -> None:
        learning_rate = "centre_learning_rate" if self.strategy == "snes" else "learning_rate"
        for floor, start in (("lr_min", learning_rate), ("sigma_min", "init_sigma")):
            if getattr(self, floor) > getattr(self, start):
                rule = f"at most {option(start)} {getattr(self, start)}"
                raise expected(option(floor), rule, getattr(self, floor))

    @property
    def held_out(self) -> "Config":
        """The config of the run's held-out episodes."""
        made_with = self.held_out_env_options or self.env_options
        return replace(self, env_options=made_with, held_out_env_options=())

    @property
    def problem(self) -> str:
        """The name of what is evolved: the environment or the function."""
        return self.function or self.env

    @property
    def is_of_script(self) -> bool:
        """Whether a script began the run, which only this script can continue; else an option names x0."""
        return bool(self.function) and not self.x0

    @property
    def directory(self) -> str:
        """The directory of the run."""
        problem = self.problem.replace("/", "-").replace(":", "-")
        strategy = self.strategy.replace(":", "-")
        return self.run_dir.replace("{seed}", str(self.seed)) or f"runs/{problem}-{strategy}-{self.seed}"


def in_own_directories(configs: Mapping[str, Config]) -> dict[str, Config]:
    """Return configs with run directories named after them, since some share an environment."""
    return {name: replace(config, run_dir=f"runs/{name}-{{seed}}") for name, config in configs.items()}
