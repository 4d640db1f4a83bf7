"""All options, each declared once: command line, run file, resume check and docs are read from here."""

import math
import re
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from mpi_es.config import user_objects
from mpi_es.config.fields import (
    ENVIRONMENT,
    Alias,
    AtLeastOne,
    Count,
    Free,
    Group,
    Natural,
    Needs,
    NotNegative,
    Of,
    Range,
    Share,
    check_ranges,
    option,
)
from mpi_es.config.parts import Part, built, flat, parts_of
from mpi_es.errors import expected

Layout = Literal["torch", "paper"]
Preset = dict[str, Any]  # options by their names
_CONVERGED = 1e-11  # pycma's tolx and tolfun
_OF_EXTRA = ("envpool:", "ALE/", "mpi_es.papers.atari", "mpi_es/TakeCover")  # prefixes of environments
_FUNCTION = Needs("function")


STRATEGIES = {
    "cma_es": "mpi_es.strategies.cma_es:CMAES",
    "openai_es": "mpi_es.strategies.openai_es:OpenAIES",
    "pepg": "mpi_es.strategies.pepg:PEPG",
    "snes": "mpi_es.strategies.snes:SNES",
    "cr_fm_nes": "mpi_es.strategies.cr_fm_nes:CRFMNES",
    "ga": "mpi_es.strategies.ga:GA",
}


POLICIES = {  # the classes of their options, which also make them
    "mlp": "mpi_es.policies.options:MLPOptions",
    "rnn": "mpi_es.policies.options:RecurrentOptions",
    "lstm": "mpi_es.policies.options:RecurrentOptions",
    "gru": "mpi_es.policies.options:RecurrentOptions",
    "attention": "mpi_es.policies.options:AttentionOptions",
}


def default(part: str, name: str) -> Any:
    """Return the options of the default strategy or policy."""
    return parts_of(Config)[part].options(option(part), name)


@dataclass(frozen=True)
class Config:
    """Evolve a neural-network policy with CMA-ES, OpenAI-ES, PEPG, SNES … on all ranks of an MPI job."""

    env: Annotated[str, Group("Problem"), Alias("--env-name", "--env-id"), ENVIRONMENT] = "CartPole-v1"
    """A gymnasium id; package.module:make, which returns an environment; envpool:ID; or vector:ID"""
    env_options: Annotated[tuple[str, ...], ENVIRONMENT] = ()
    """Arguments of the environment: name=value, as in its documentation"""
    held_out_env_options: Annotated[tuple[str, ...], ENVIRONMENT] = ()
    """Arguments of the environment of held-out episodes; empty: those of --env-options"""
    policy: Annotated[
        Any, ENVIRONMENT, Part(POLICIES, own="mpi_es.policies.options:OwnOptions", imports=False)
    ] = field(default_factory=lambda: default("policy", "mlp"))
    """mlp, rnn, lstm, gru, attention, or package.module:Class, a torch module or a class with a kernel"""
    obs_norm: Annotated[bool, ENVIRONMENT] = False
    """Normalise observations by the mean and standard deviation of all training observations"""
    seed: Natural = 1143
    """Seed of all random numbers of the run"""

    function: Annotated[str, Group("Function, instead of a policy in an environment")] = ""
    """package.module:f, a function to optimise instead of a policy: f(x), or f(x, seed) if random"""
    x0: Annotated[tuple[float, ...], _FUNCTION] = ()
    """Start of a function's search; with --dim, one number may stand for all"""
    dim: Annotated[Natural, _FUNCTION] = 0
    """Number of parameters of a function; 0: as many as --x0 has"""
    bounds: Annotated[tuple[float, ...], _FUNCTION] = ()
    """Lower and upper bound of a function's parameters"""
    integers: Annotated[tuple[int, ...], _FUNCTION] = ()
    """Indices, from 0, of a function's parameters that are integers; only for cma_es"""
    constraints: Annotated[Natural, _FUNCTION] = 0
    """Number of constraints of a function that returns (value, constraints), met where all are <= 0"""
    minimise: Annotated[bool, _FUNCTION] = False
    """Minimise the function instead of maximising it"""
    on_failure: Annotated[Literal["stop", "worst"], _FUNCTION] = "stop"
    """When a call fails: end the run and keep its x, or rank its candidate last and continue"""
    call_timeout: Annotated[NotNegative, _FUNCTION] = 0.0
    """Seconds after which a call of a function fails, as soon as it is in Python code; 0: never"""
    ranks_per_call: Annotated[Free[Count], _FUNCTION] = 1
    """Number of ranks that call a function f(x, comm) together"""
    call_dirs: Annotated[Free[Literal["failed", "all"]], _FUNCTION] = "failed"
    """Which calls of a function f(x, directory) keep their directories in RUN/calls"""

    from_pretrained: Annotated[str, Group("Start"), ENVIRONMENT] = ""
    """Run, run.h5 or npz file with the agent from which the search starts"""
    evolve: Annotated[str, ENVIRONMENT] = "all"
    """all, or the part that evolves while the rest stays fixed: attention, controller, controller.fc …"""
    base_from_pretrained: Annotated[str, ENVIRONMENT] = ""
    """Run, run.h5 or npz file with the parts that stay fixed"""
    layout: Annotated[Layout, Needs("from_pretrained", "base_from_pretrained")] = "torch"
    """Order of the parameters in an npz file that does not name it: torch's, or that of the paper's code"""

    strategy: Annotated[
        Any, Group("Strategy"), Part(STRATEGIES, own="mpi_es.strategies.base:StrategyOptions")
    ] = field(default_factory=lambda: default("strategy", "cma_es"))
    """cma_es, openai_es, pepg, snes, cr_fm_nes, ga, or package.module:Class"""
    max_iter: Annotated[Free[Count], Alias("--max-gradient-updates")] = 2000
    """Number of generations after which the run ends"""
    max_evaluations: Free[Natural] = 0
    """Number of training episodes, or calls of a function, after which the run ends; 0: no limit"""
    tolx: Free[Annotated[float | None, Range(0)]] = None
    """End the run when every parameter's deviation is below this; 0: never; None: 1e-11 for f(x), else 0"""
    tolfun: Free[Annotated[float | None, Range(0)]] = None
    """End the run when values and recent best values vary by less than this;
    0: never; None: 1e-11 for f(x), else 0"""
    restart_if_below: Annotated[float | None, Range(-math.inf)] = None
    """Restart from a new draw if no population's mean reaches this; --tolx, --tolfun then default to 0"""
    restart_after: Annotated[Count, Needs("restart_if_below")] = 40
    """Number of generations that a start has to reach --restart-if-below"""

    num_rollouts: Annotated[Count, Group("Episodes")] = 1
    """Number of episodes per candidate in a generation"""
    episode_seeds: Literal["independent", "common", "paired"] = "independent"
    """Separate seeds for each candidate, the same for all, or one set for each mirrored pair"""
    episode_cap: Annotated[Natural, Alias("--max-episode-length"), ENVIRONMENT] = 0
    """Steps after which a training episode is cut; 0: the environment's own limit, else 10,000"""
    variable_ep_len: Annotated[bool, ENVIRONMENT] = False
    """Cut training episodes at twice their mean length in the last generation"""
    cap_growth: Annotated[AtLeastOne, ENVIRONMENT, Needs("episode_cap")] = 1.0
    """Factor on --episode-cap after a generation in which a share of at least --cap-threshold reached it"""
    cap_threshold: Annotated[Share, ENVIRONMENT, Needs("cap_growth")] = 0.5
    """Share of a generation's episodes that must reach the cap before --cap-growth applies"""
    early_stop: Annotated[Natural, ENVIRONMENT] = 0
    """Cut a training episode after more than this number of successive negative rewards; 0: never"""
    clip_rewards: Annotated[tuple[float, ...], ENVIRONMENT] = ()
    """Lower and upper bound of an action's reward in training, as for Atari; empty: none"""
    action_repeat: Annotated[Count, Alias("--frame-skip"), ENVIRONMENT] = 1
    """Environment steps for which an action is repeated; the policy sees only the last observation"""
    action_noise: Annotated[NotNegative, ENVIRONMENT] = 0.0
    """Standard deviation of noise on continuous actions in training"""

    track_centre: Annotated[bool, Group("Held-out evaluations, and the target"), ENVIRONMENT] = True
    """Evaluate the centre with the population, and count the candidates above it"""
    eval_every: Free[Natural] = 10
    """Generations between held-out evaluations of the centre; 0: only at the end"""
    num_eval_rollouts: Free[Count] = 64
    """Number of episodes of a held-out evaluation"""
    target_fitness: Annotated[Free[float | None], Range(-math.inf), Alias("--reward-goal", "--goal")] = None
    """End the run when the mean held-out return, or the value of a function f(x), reaches this"""
    target_consecutive: Annotated[
        Free[Count], Alias("--consecutive-goal-stopping"), Needs("target_fitness")
    ] = 1
    """Number of successive held-out evaluations, or generations if f(x) is not random, to reach the target"""

    dispatch: Annotated[Free[Literal["auto", "static", "dynamic"]], Group("Machine")] = "auto"
    """Fixed shares, or episodes to free ranks; auto: dynamic,
    but static if one call steps many environments"""
    dedicated_root: Free[Literal["auto", "yes", "no"]] = "auto"
    """Rank 0 evaluates no episodes; auto: yes from 128 ranks on, if dispatch is dynamic"""
    envs_per_rank: Annotated[Free[Natural], ENVIRONMENT] = 0
    """Episodes that a rank steps together; 0: 16, or 64 if one call steps them all (envpool:, vector:)"""

    threads_per_rank: Annotated[Free[Count], ENVIRONMENT, Of("compiled", True)] = 1
    """Threads per rank, each with its own episodes, if episodes run in compiled code"""
    compiled: Annotated[Free[bool], ENVIRONMENT] = True
    """Run whole episodes in compiled code if policy and environment allow it, with the same results"""
    device: Annotated[str, ENVIRONMENT] = "cpu"
    """Device of your own torch module: cpu; cuda, one for each rank of a node; cuda:N; auto: cuda or cpu"""
    evaluation_timeout: Free[NotNegative] = 0.0
    """Seconds without the start or end of an episode after which a rank is killed; 0: never"""
    on_rank_loss: Free[Literal["auto", "shrink", "abort"]] = "auto"
    """When a rank dies, the others continue (shrink) or the job ends; auto: shrink if MPI can"""

    run_dir: Annotated[str, Group("Run"), Alias("--logs-dir", "--save-path")] = ""
    """Directory of the run, with {seed} for the seed; empty: runs/ENV-STRATEGY-SEED, or FUNCTION-…"""
    checkpoint_interval: Free[NotNegative] = 5.0
    """Minimum seconds between saves; 0: save every generation. Signals save at once"""
    tensorboard: Free[bool] = True
    """Write TensorBoard events into the directory of the run"""
    callback: Free[str] = ""
    """package.module:Class, called on rank 0 after each generation; if it returns True, the run stops"""
    console: Free[Literal["auto", "live", "lines", "silent"]] = "auto"
    """Live panel, one line per generation, or nothing; auto: live on a terminal, else lines"""

    def __reduce__(self) -> Any:
        """Pickle the values alone, so that a class that cannot be imported
        gives the error of the command line.
        """
        return built, (Config, flat(self))

    def __post_init__(self) -> None:
        """Refuse invalid values and combinations."""
        check_ranges(self)
        if self.base_from_pretrained and self.evolve == "all":
            rule = "no file, since --evolve all fixes no part"
            raise expected("--base-from-pretrained", rule, self.base_from_pretrained, "use --evolve PART")
        if self.cap_growth > 1 and self.variable_ep_len:
            raise expected(
                "--cap-growth", "1 with --variable-ep-len, which sets the cap itself", self.cap_growth
            )
        if len(self.bounds) not in (0, 2):
            raise expected("--bounds", "two numbers, the lower and the upper bound", self.bounds)
        if not re.fullmatch(r"auto|cpu|cuda(:\d+)?", self.device):
            raise expected("--device", "auto, cpu, cuda or cuda:N", self.device)
        clip = self.clip_rewards
        if clip and not (len(clip) == 2 and clip[0] < clip[1]):
            raise expected("--clip-rewards", "two numbers, the lower and the upper bound", clip)

    @property
    def always_given(self) -> tuple[str, ...]:
        """The options that are written even with their defaults: without --env the preset is carracing."""
        return () if self.function else ("env",)

    @property
    def held_out(self) -> "Config":
        """The config of the run's held-out episodes."""
        made_with = self.held_out_env_options or self.env_options
        return replace(self, env_options=made_with, held_out_env_options=())

    @property
    def tracks_centre(self) -> bool:
        """Whether the centre is evaluated with each population;
        never for functions, whose calls may be slow.
        """
        return self.track_centre and not self.function

    @property
    def normalises(self) -> bool:
        """Whether observations are normalised; functions have none."""
        return self.obs_norm and not self.function

    @property
    def restarts(self) -> str:
        """The strategy's rule of restarts; a user's strategy has none."""
        return getattr(self.strategy, "restarts", "none") if self.strategy.name in STRATEGIES else "none"

    @property
    def tolerances(self) -> tuple[float, float]:
        """The values of --tolx and --tolfun; by default a search that restarts
        does not end when a start has converged.
        """
        restarts = self.restart_if_below is not None or self.restarts != "none"
        default = _CONVERGED if self.function and not restarts else 0.0
        tolx, tolfun = (default if value is None else value for value in (self.tolx, self.tolfun))
        return tolx, tolfun

    @property
    def problem(self) -> str:
        """The name of what is evolved: the environment or the function."""
        return self.function or self.env

    @property
    def sign(self) -> float:
        """The factor between fitness, which is maximised and stored, and the values that a user sees."""
        return -1.0 if self.minimise else 1.0

    @property
    def trained(self) -> str:
        """What the run trains, in short."""
        policy, env = (re.split("[:/]", name)[-1] for name in (self.policy.name, self.env))
        what = policy if self.evolve == "all" else f"only the {self.evolve}"
        return f"{what} on {env}, {self.strategy.name}"

    @property
    def extra(self) -> str:
        """The extra of mpi_es that installs the environment; empty if none is needed."""
        return "envs" if self.env.startswith(_OF_EXTRA) else ""

    @property
    def is_of_script(self) -> bool:
        """Whether the run needs objects of the script that started it."""
        if self.function:
            return not self.x0  # on the command line x0 is an option
        return any(map(user_objects.is_of_script, (self.env, self.policy.name)))

    @property
    def held_out_cap(self) -> int:
        """The step limit of held-out episodes if the environment has none; 0: the default of 10,000."""
        return 0 if self.cap_growth > 1 else self.episode_cap

    @property
    def directory(self) -> str:
        """The directory of the run."""
        problem = self.problem.replace("/", "-").replace(":", "-")
        strategy = self.strategy.name.replace(":", "-")
        return self.run_dir.replace("{seed}", str(self.seed)) or f"runs/{problem}-{strategy}-{self.seed}"


def configured(**options: Any) -> Config:
    """Return the config of these options, all others at their defaults."""
    return built(Config, options)
