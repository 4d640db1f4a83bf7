"""A member that is a whole run of OpenAI-ES on the ranks of its group; step sizes and popsize are tuned."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Vector
from mpi_es.config import command_line
from mpi_es.config.fields import option
from mpi_es.config.parts import changed
from mpi_es.config.run import Config as RunConfig
from mpi_es.config.run import default
from mpi_es.errors import expected, unknown
from mpi_es.evaluation.build import make_evaluator, make_policy, training_rules
from mpi_es.evaluation.rollout import EpisodeRules
from mpi_es.parallel.rank_loss import RankLost
from mpi_es.run_file.observations import ObservationStatistics
from mpi_es.seeds import training_seeds
from mpi_es.strategies import make as make_strategy
from mpi_es.strategies.base import alone
from pbt.config import Config
from pbt.explore import Hyperparameter
from pbt.members.base import Diverged, Member, Player, Score, Values
from pbt.packing import State

# Options of mpi_es.train that a member takes; the population sets the others, or does not use them.
_OPTIONS = {
    "init_sigma",
    "learning_rate",
    "population_size",
    "policy",
    "policy_options",
    "hidden",
    "activation",
    "output",
    "shaping",
    "optimizer",
    "momentum",
    "max_speed",
    "weight_decay",
    "num_rollouts",
    "episode_seeds",
    "episode_cap",
    "early_stop",
    "clip_rewards",
    "action_noise",
    "noise",
    "noise_rank",
    "top_directions",
    "dispatch",
    "envs_per_rank",
    "threads_per_rank",
}


class ES(Member):
    """Rank 0 of the group runs the strategy; all ranks of the group evaluate."""

    collective: ClassVar[bool] = True
    options: ClassVar[Mapping[str, Sequence[str]]] = {"sigma": ["init_sigma"], "pairs": ["population_size"]}
    unused: ClassVar[Sequence[str]] = ("algorithm", "reward_norm", "num_envs")

    def __init__(self, config: Config, index: int, *arguments: Any) -> None:
        super().__init__(config, index, *arguments)
        seed = int(self.rng().integers(2**62))
        self.run = dataclasses.replace(_run_config(config), seed=seed)
        self.evaluator = make_evaluator(self.comm, self.run, self.stop)
        self.observations = ObservationStatistics.of_size(
            self.evaluator.rollout.size if config.obs_norm else 0
        )
        self.hyperparameters = {
            "sigma": self.run.strategy.init_sigma,
            "learning_rate": self.run.strategy.learning_rate,
        }
        initial = self.evaluator.rollout.policy.initial(seed).astype(float)
        self.strategy = make_strategy(self.run, initial, self.evaluator.noise)

    @classmethod
    def declared(cls, config: Config) -> Sequence[Hyperparameter]:
        """Return the strategy's step sizes, and its number of mirrored pairs: half of the popsize."""
        make_policy(_run_config(config))
        return [
            Hyperparameter("sigma", 1e-3, 1, "log"),
            Hyperparameter("learning_rate", 1e-4, 0.5, "log"),
            Hyperparameter("pairs", 4, 64, "log", integer=True),
        ]

    def train(self, steps: int) -> None:
        """Run `steps` generations of the strategy. Collective over the group."""

        def generations() -> None:
            for _ in range(steps):
                self._one_generation()
                if not np.isfinite(self.strategy.centre.astype(np.float32)).all():
                    raise Diverged

        self._run_on_root(generations)

    def in_effect(self) -> Values:
        """Return the strategy's step sizes and number of pairs, on the first rank of the group."""
        state, pairs = self.strategy.state, self.strategy.popsize / 2
        read = {"sigma": state.sigma, "learning_rate": state.learning_rate, "pairs": pairs}
        return {name: read[name] for name in self.hyperparameters}

    @property
    def normalisation(self) -> Vector | None:
        """What observations are normalised with now, (2, size); None without --obs-norm."""
        return self.observations.normalisation if self.config.obs_norm else None

    def score(self, episode_seeds: NDArray[np.int64]) -> Score:
        """Return the score of the centre on the group's first rank, an empty one on others. Collective."""
        return self._score(self.evaluator.rollout.full_episode_rules, episode_seeds)

    def evaluate(self, episode_seeds: NDArray[np.int64]) -> Score:
        """Return the score of the centre in the held-out environment. Collective, like `score`."""
        return self._score(self.evaluator.held_out_rules, episode_seeds)

    def _score(self, rules_of: Callable[..., EpisodeRules], episode_seeds: NDArray[np.int64]) -> Score:
        """Return the score of the centre in full episodes."""
        results: list[Score] = []
        rules = rules_of(self.run.episode_cap, self.normalisation)

        def evaluate() -> None:
            played = self.evaluator.evaluate(alone(self.strategy.centre), episode_seeds[None], rules)
            results.append(Score(played.returns[0], played.lengths[0].astype(float)))

        self._run_on_root(evaluate)
        return results[0] if results else Score(np.zeros(0), np.zeros(0))

    def close(self) -> None:
        """Close the environments."""
        self.evaluator.close_environments()

    def player(self) -> Player:
        """Return the policy with the strategy's centre as its parameters."""
        rules = self.evaluator.held_out_rules(self.run.episode_cap, self.normalisation)
        policy, centre = self.evaluator.rollout.policy, self.strategy.centre.astype(np.float32)
        return Player(self.run.held_out, policy, policy.as_candidate(centre), rules)

    def get_state(self) -> State:
        """Return the strategy's state and the statistics of the observations."""
        state = dataclasses.asdict(self.strategy.state)
        optimizer = {f"optimizer.{name}": value for name, value in state.pop("optimizer").items()}
        statistics = dataclasses.asdict(self.observations)
        return state | optimizer | {f"observations.{name}": value for name, value in statistics.items()}

    def set_state(self, state: State) -> None:
        """Continue from the strategy's state and the statistics."""
        groups: dict[str, State] = {"": {}, "optimizer": {}, "observations": {}}
        for name, value in state.items():
            group, _, field = name.rpartition(".")
            groups[group][field] = value
        self.strategy.state = type(self.strategy.state)(**groups[""], optimizer=groups["optimizer"])
        self.observations = ObservationStatistics(**groups["observations"])

    def _run_on_root(self, work: Callable[[], None]) -> None:
        """Do the work on the group's first rank while the others evaluate. Collective over the group."""
        raised: list[Exception] = []

        def guarded() -> None:
            try:
                work()
            except RankLost:
                raise
            except Exception as error:  # raised below, when the other ranks have left the evaluation
                raised.append(error)

        self.evaluator.loop.run_on_root(guarded)
        if raised:
            raise raised[0]

    def _one_generation(self) -> None:
        """Ask, evaluate and tell, with the current hyperparameters."""
        strategy = self._tuned_strategy()
        run, state = self.run, strategy.state
        population = strategy.ask()
        seeds = training_seeds(
            run.seed, state.generation, len(population), run.num_rollouts, run.episode_seeds
        )
        cap = self.evaluator.rollout.training_cap(run.episode_cap)
        rules = training_rules(run, cap, self.normalisation)
        evaluation = self.evaluator.evaluate(population, seeds, rules)
        strategy.tell(population, evaluation.returns.mean(axis=1))
        if self.config.obs_norm:
            self.observations = self.observations.updated(evaluation.observations)
        self.strategy = strategy

    def _tuned_strategy(self) -> Any:
        """Return the strategy with its state and the current hyperparameters."""
        values = self.hyperparameters
        popsize = 2 * int(values.get("pairs", self.run.strategy.population_size // 2))
        run = changed(self.run, population_size=popsize)
        state = self.strategy.state
        strategy = make_strategy(run, state.centre, self.evaluator.noise)
        sizes = {name: values[name] for name in ("sigma", "learning_rate") if name in values}
        strategy.state = dataclasses.replace(state, **sizes)
        return strategy


def _run_config(config: Config) -> RunConfig:
    """Return the config of one member's run; mpi_es.train parses the member options."""
    words = []
    for member_option in config.member_options:
        name, equals, value = member_option.partition("=")
        if not equals:
            raise expected("--member-options", "name=value", member_option)
        if name not in _OPTIONS:
            raise unknown("--member-options, of es", name, _OPTIONS)
        if option(name) in words:
            raise expected("--member-options", "each name once", member_option)
        words += [option(name), *value.split()]
    start = RunConfig(
        env=config.env,
        env_options=config.env_options,
        held_out_env_options=config.held_out_env_options,
        strategy=default("strategy", "openai_es"),
        obs_norm=config.obs_norm,
        track_centre=False,
    )
    return command_line.parse(words, start, {}, "--member-options")
