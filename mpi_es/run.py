"""One generation after another, on rank 0: read this first.

    ask -> evaluate (all ranks) -> tell -> held-out evaluation now and then -> save

The other ranks serve meanwhile (parallel/command_loop.py). They hold no state that a checkpoint needs.
"""

import contextlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from mpi_es import seeds, strategies
from mpi_es.arrays import Candidate, Vector
from mpi_es.config.fields import option
from mpi_es.config.parts import flat
from mpi_es.config.run import Config
from mpi_es.errors import RolloutError, UserError
from mpi_es.evaluation.build import training_rules
from mpi_es.evaluation.evaluator import Evaluator
from mpi_es.evaluation.halves import agreement_of_halves
from mpi_es.evaluation.messages import Evaluation
from mpi_es.evaluation.messages import joined as joined_evaluations
from mpi_es.evaluation.rollout import EpisodeRules
from mpi_es.parallel.stop_signal import Stopped
from mpi_es.run_file.checkpoint import NOWHERE
from mpi_es.run_file.history import End, History
from mpi_es.run_file.records import HeldOut, Progress, Solution, Timing, summarize
from mpi_es.run_file.saver import Saver
from mpi_es.run_file.training_plan import resuming
from mpi_es.strategies.base import Dense, Population, Strategy, WithCentre, alone, joined
from mpi_es.strategies.constraints import Constraints
from mpi_es.strategies.restarts import Restarts
from mpi_es.telemetry.numbers import of_evaluation, of_generation
from mpi_es.telemetry.sinks import Telemetry
from mpi_es.text import number, thousands

_SAME = 1e-6  # relative difference, at most, of a function's values on two machines


@dataclass
class Run:
    """A run in progress."""

    config: Config
    directory: Path
    strategy: Strategy
    evaluator: Evaluator
    telemetry: Telemetry
    history: History
    progress: Progress
    libraries: dict[str, str]  # their versions, for the file
    constraints: Constraints
    beginning: dict[str, Any] = field(default_factory=dict)  # a group of the file, see train.beginning
    best: Solution = field(default_factory=Solution)

    def __post_init__(self) -> None:
        self.exact = self.evaluator.rollout.exact  # one call gives a candidate's value; it takes no seed
        self.saver = Saver(self.directory, self.config.checkpoint_interval)
        self.pending: dict[str, Any] = {}  # what the next save writes, as of the last generation
        self.clock: list[float] = []  # when the current generation began, and when each of its steps ended
        self.save_seconds = 0.0  # of the save after the last generation, if there was one
        self.seconds_between = 0.0  # of that save, the callback and the telemetry
        self.stop_reason = ""  # why a callback ended the run
        self.watch: Callable[[Run], object] | None = None  # called after each generation
        self.fitness = np.zeros(0)  # (popsize,) of the last generation; NaN where a call failed
        self.constraint_values = np.zeros((0, self.constraints.count))  # (popsize, count) of the same

    # The loop

    def evolve(self) -> str:
        """Run generations until a limit, a target or a signal ends the run;
        print the reason and return it.
        """
        held_out, finished, begun = None, False, self.progress.generation
        try:
            while not (end := self.why_over()):
                self.one_generation()
            reason = end.reason
            held_out, finished = self.evaluate_last(), True
            outcome = self.best_in_words()
            if begun == self.progress.generation and held_out is None:
                outcome += "; the run had already finished"
                outcome += f"; to continue it, give another {self.name_of(end.option)}" if end.option else ""
        except Stopped:
            reason = f"stopped by {self.evaluator.stop_flag.name}"
            outcome = f"saved in {self.directory}"
            if self.directory == NOWHERE:
                outcome = "not saved"
            elif not self.config.is_of_script:
                outcome += "; continue with\n" + resuming("mpi_es.train", self.directory)
        except (RolloutError, UserError) as error:
            if isinstance(error, RolloutError) and error.x is not None:
                text = str(error).replace("\0", "?").encode(errors="replace").decode()  # as HDF5 can hold it
                self.pending["failure"] = {"x": error.x, "text": text}
            with contextlib.suppress(UserError):  # saving may be what failed
                self.save(str(error).splitlines()[0])
            raise
        self.save(reason, finished=finished)
        saved = self.pending["progress"].generation if self.pending else begun
        if held_out:
            self.telemetry.generation(of_evaluation(self.config, held_out))
        self.telemetry.finish(f"generation {saved}: {reason}; {outcome}")
        return reason

    def why_over(self) -> End | None:
        """Return why the run is over; None while it is not."""
        config = self.config
        target, wanted = config.target_fitness, config.target_consecutive
        if target is not None and self.streak(config.sign * target) >= wanted:
            times = f" {wanted} times in a row" if wanted > 1 else ""
            return End(f"target of {target:g} reached{times}", "target_fitness")
        if self.progress.generation >= config.max_iter:
            return End("last generation done", "max_iter")
        if 0 < config.max_evaluations <= self.calls_to_limit():
            return End(f"limit of {thousands(config.max_evaluations)} evaluations reached", "max_evaluations")
        columns = self.constraints.history
        if converged := self.history.why_converged(*config.tolerances, self.evaluator.dim, columns):
            return converged
        return End(self.stop_reason, "callback") if self.stop_reason else None

    def calls_to_limit(self) -> int:
        """Return the number of training episodes, or of all calls of a function,
        but those that only an earlier end of the run made.
        """
        if not self.config.function or self.exact:
            return self.history.episodes
        due = self.history.due(self.config.eval_every)
        return self.history.episodes + sum(held.calls for held in due)

    def best_in_words(self) -> str:
        """Return the best value or held-out mean, and where it is saved."""
        best = self.best
        if not best.candidate.size:
            return "no held-out call succeeded"
        words = f"best {'value' if self.exact else 'held-out mean'} {number(self.config.sign * best.fitness)}"
        words += f" at generation {best.generation}{self.constraints.remark()}"
        return words if self.directory == NOWHERE else f"{words}, in {self.directory}"

    def name_of(self, end: str) -> str:
        """Return how a command line, or a script, gives an option that ends the run."""
        if not self.config.is_of_script:
            return option(end)
        return "goal" if self.config.function and end == "target_fitness" else end

    def streak(self, target: float) -> int:
        """Return how many of the latest held-out means, or best values, in a row reached the target."""
        if self.exact:
            return self.history.streak_of_best(target)
        return self.history.streak(target, self.config.eval_every)

    def one_generation(self) -> None:
        """Run one generation; an incomplete one has no effect."""
        self.tell(*self.play(self.ask()))
        if self.saver.is_due:
            self.save()
            self.save_seconds = self.saver.seconds
        self.seconds_between = time.perf_counter() - self.clock[-1]

    def ask(self) -> Population:
        """Return the population of the next generation."""
        self.clock = [time.perf_counter()]
        population = self.strategy.ask()
        if isinstance(population, Dense):
            self.check_finite(population.rows, "candidates are")
        self.clock.append(time.perf_counter())
        return population

    def tell(self, population: Population, evaluation: Evaluation) -> None:
        """Tell the strategy the fitness of its population, and record the generation."""
        config, progress, strategy, clock = self.config, self.progress, self.strategy, self.clock
        popsize = len(population)
        fitness, of_centre = np.split(evaluation.returns.mean(axis=1), [popsize])
        constraints = evaluation.constraints[:popsize].mean(axis=1)
        succeeded = ~np.isnan(fitness)
        if not succeeded.any():
            cause = self.evaluator.rollout.failure
            failed = f"generation {progress.generation + 1}: the calls of all candidates failed"
            raise RolloutError(f"{failed}; {cause}" if cause else failed)
        clock.append(time.perf_counter())
        self.fitness, self.constraint_values = fitness, constraints
        if self.exact:
            self.keep_best(population, fitness, constraints)
        if isinstance(strategy, Restarts) and strategy.begins:
            self.constraints.begin()
        lowest = np.finfo(np.float64).min
        ranked = np.maximum(self.constraints.penalised(fitness, constraints), lowest)
        # A candidate whose call failed ranks last: just below the worst of the others.
        below = np.nextafter(ranked[succeeded].min(), lowest)
        strategy.tell(population, np.where(succeeded, ranked, below))
        self.check_finite(strategy.centre, "centre is")
        state = strategy.state  # raises if no file can hold it, before this generation has any effect
        clock.append(time.perf_counter())
        row = summarize(
            progress.generation + 1,
            fitness[succeeded],
            evaluation.lengths,
            popsize=popsize,
            failures=int(np.isnan(evaluation.returns).sum()),
            sigma=strategy.sigma,
            fitness_of_centre=float(of_centre.item()) if config.tracks_centre else math.nan,
            episode_cap=progress.episode_cap,
            learning_rate=getattr(strategy, "learning_rate", math.nan),
            start=strategy.start if isinstance(strategy, Restarts) else 0,
            agreement=agreement_of_halves(evaluation.returns[:popsize][succeeded]),
            deviation=self.deviation(population),
        )
        if self.constraints.count:
            best = self.constraints.best_feasible(fitness[succeeded], constraints[succeeded])
            row = replace(row, best=best)
        self.advance(evaluation)
        held_out = self.held_out() if self.due() else None
        clock.append(time.perf_counter())
        timing = _timing(clock, self.save_seconds, self.seconds_between, evaluation)
        self.history.rows.append(row)
        self.history.timings.append(timing)
        feasibility = self.constraints.update(fitness[succeeded], constraints[succeeded])
        self.save_seconds = 0.0
        self.keep(state)
        numbers = of_generation(config, row, timing, held_out, self.history.steps, feasibility)
        # Before the save: if a kill comes in between, a sink has a generation more than the file, never
        # fewer.
        self.stop_reason = self.telemetry.generation(numbers)
        answer = self.watch and self.watch(self)
        if isinstance(answer, bool | np.bool_) and answer:
            self.stop_reason = "stopped by callback"

    def check_function(self) -> None:
        """Refuse to continue with a function whose value at the best x differs from the saved one."""
        if not (self.config.function and self.best.candidate.size):
            return
        seed, saved = 0, self.best.fitness
        if not self.exact:
            seed = int(seeds.held_out_seeds(self.config.seed, 1)[0])
            held_out = [one for one in self.history.evaluations if one.generation == self.best.generation]
            if len(held_out[-1].returns) < self.config.num_eval_rollouts:
                return  # the call of this seed may have failed
            saved = float(held_out[-1].returns[0])
        x, rules = alone(np.asarray(self.best.candidate, np.float64)), EpisodeRules(saved_x=True)
        try:
            again = self.evaluator.evaluate(x, np.array([[seed]]), rules)
        except Stopped:  # the first generation is stopped, too, and handles it
            return
        now = [again.returns[0, 0], *again.constraints[0, 0]]
        before = [saved, *self.constraints.of_best]
        if not np.allclose(now, before, rtol=_SAME, atol=self.config.tolerances[1]):
            is_now, was = (
                ", ".join(map(number, [self.config.sign * fitness, *constraints]))
                for fitness, *constraints in (now, before)
            )
            raise UserError(
                f"{self.directory}: the function has changed: at the best x it is now {is_now}, "
                f"but was {was}; choose another --run-dir to start a new run"
            )

    def deviation(self, population: Population) -> float:
        """Return the largest standard deviation of a parameter, without integers; NaN without --tolx."""
        if not self.config.tolerances[0]:
            return math.nan
        if isinstance(population, Dense) and self.config.integers:
            continuous = np.delete(population.rows, self.config.integers, axis=1)
            return Dense(continuous).deviation if continuous.size else math.nan
        return population.deviation

    def check_finite(self, numbers: Vector, what: str) -> None:
        """Raise if the strategy's candidates or centre are no longer finite."""
        if not np.isfinite(numbers).all():
            cause = strategies.step_option(self.config.strategy)
            raise UserError(f"the strategy's {what} no longer finite; try a smaller {cause}")

    def play(self, population: Population) -> tuple[Population, Evaluation]:
        """Evaluate a population; with --num-interactions, further batches too, until enough steps are done.

        Return all candidates and their evaluation. The number of batches depends only on the episodes'
        lengths, which are the same on any number of ranks. The centre's row, if it is evaluated, is the last.
        """
        config, size = self.config, len(population)
        wanted = 0 if config.function else getattr(config.strategy, "num_interactions", 0)
        populations, evaluations = [population], [self.evaluate_batch(population, 0)]
        steps = evaluations[0].lengths.sum()
        most = getattr(config.strategy, "popsize_max", 0)
        batches = most // size if most else math.inf
        while steps < wanted and len(populations) < batches:
            batch = len(populations)
            populations.append(self.strategy.ask_more(batch))  # type: ignore[attr-defined]
            evaluations.append(self.evaluate_batch(populations[-1], batch))
            steps += evaluations[-1].lengths.sum()
        if len(populations) == 1:
            return population, evaluations[0]
        return joined(populations), joined_evaluations(evaluations, size)

    def evaluate_batch(self, population: Population, batch: int) -> Evaluation:
        """Evaluate a population on its episode seeds; the first batch of a generation includes the centre."""
        config = self.config
        joins = config.tracks_centre and not batch
        evaluated = WithCentre(population, self.strategy.centre) if joins else population
        episode_seeds = seeds.training_seeds(
            config.seed,
            self.progress.generation,
            len(evaluated),
            1 if self.exact else config.num_rollouts,
            config.episode_seeds,
            batch,
        )
        first = batch * (len(population) + config.tracks_centre)
        rules = training_rules(config, self.progress.episode_cap, self.normalisation)
        rules = replace(rules, first_candidate=first, generation=self.progress.generation + 1)
        return self.evaluator.evaluate(evaluated, episode_seeds, rules)

    def advance(self, evaluation: Evaluation) -> None:
        """Update what the next generation's episodes depend on."""
        progress = self.progress
        progress.generation += 1
        if self.config.normalises:
            progress.observations = progress.observations.updated(evaluation.observations)
        if self.config.variable_ep_len:
            cap = math.ceil(2 * float(evaluation.lengths.mean()))  # pytorch-es's factor
            most = self.evaluator.rollout.training_cap(self.config.episode_cap)
            progress.episode_cap = min(cap, most or cap)
        elif self.config.cap_growth > 1:  # OpenAI's adaptive cut-off
            reached = float((evaluation.lengths >= progress.episode_cap).mean())
            if reached >= self.config.cap_threshold:
                progress.episode_cap = math.ceil(self.config.cap_growth * progress.episode_cap)

    def keep_best(self, population: Population, fitness: Vector, constraints: Vector) -> None:
        """Remember the best candidate of a generation if it is the best of all."""
        best = self.constraints.best(fitness, constraints)
        if self.constraints.improves(fitness[best], constraints[best], self.best.fitness):
            candidate = population.candidate(best, self.evaluator.noise)
            generation = self.progress.generation + 1
            self.best = self.deployed(float(fitness[best]), candidate, generation)
            self.constraints.of_best = constraints[best]

    def held_out_rules(self) -> EpisodeRules:
        """Return the rules of held-out episodes."""
        rules = self.evaluator.held_out_rules(self.config.held_out_cap, self.normalisation)
        return replace(rules, generation=self.progress.generation)

    @property
    def normalisation(self) -> Vector | None:
        """What observations are normalised with now, (2, size); None without --obs-norm."""
        return self.progress.observations.normalisation if self.config.normalises else None

    # The held-out evaluation

    def due(self) -> bool:
        """Return whether the last generation's centre is due for a held-out evaluation."""
        every = self.config.eval_every
        return every > 0 and not self.exact and self.progress.generation % every == 0

    def held_out(self) -> HeldOut:
        """Evaluate the centre on episodes that training never draws, and keep it if it is the best."""
        config, progress = self.config, self.progress
        episodes = 1 if self.exact else config.num_eval_rollouts
        episode_seeds = seeds.held_out_seeds(config.seed, episodes)
        centre = alone(self.strategy.centre)
        evaluation = self.evaluator.evaluate(centre, episode_seeds[None], self.held_out_rules())
        succeeded = ~np.isnan(evaluation.returns[0])
        held_out = HeldOut(progress.generation, evaluation.returns[0, succeeded], int((~succeeded).sum()))
        self.history.evaluations.append(held_out)
        if succeeded.any():
            constraints = evaluation.constraints[0, succeeded][0]
            if self.constraints.improves(self.history.score(held_out), constraints, self.score_of_best()):
                self.best = self.deployed(held_out.mean, self.strategy.centre, progress.generation)
                self.constraints.of_best = constraints
        return held_out

    def score_of_best(self) -> float:
        """Return the score of the best centre, or the value of the best x."""
        best = self.best
        found = [one for one in self.history.evaluations if one.generation == best.generation]
        return self.history.score(found[0]) if found and not self.exact else best.fitness

    def deployed(self, fitness: float, candidate: Candidate | Vector, generation: int) -> Solution:
        """Return a candidate, with what it needs to be evaluated again."""
        normalisation, rollout = self.normalisation, self.evaluator.rollout
        return Solution(
            generation,
            fitness,
            rollout.policy.whole(candidate.astype(rollout.parameter_precision)),
            np.zeros((2, 0)) if normalisation is None else normalisation,
            0.0 if normalisation is None else self.progress.observations.count,
        )

    def evaluate_last(self) -> HeldOut | None:
        """Evaluate the last generation's centre, unless it is evaluated already."""
        done = self.history.evaluations
        if done and done[-1].generation == self.progress.generation:
            return None
        held_out = self.held_out()
        self.keep()
        return held_out

    # The file

    def keep(self, state: Any = None) -> None:
        """Collect what the next save writes, after a complete generation.

        Args:
            state: the strategy's, if it was read already.
        """
        progress = self.progress
        self.pending = {
            "state": self.strategy.state if state is None else state,
            "progress": replace(progress),
            "best": self.best,
            "last": self.deployed(math.nan, self.strategy.centre, progress.generation),
        }
        if self.constraints.count:
            self.pending["constraints"] = self.constraints.content()

    def save(self, reason: str = "", *, finished: bool = False) -> None:
        """Save the last complete generation, and why the run ended;
        without a new generation, write nothing.
        """
        if self.pending and self.saver.writes:  # else collecting the content would be wasted
            self.saver.save(self.content(), reason, finished=finished)

    def content(self) -> dict[str, Any]:
        """Return the content of the run's file after the last complete generation."""
        constant = {"config": flat(self.config), "libraries": self.libraries}
        return constant | self.beginning | self.pending | self.history.content()


def _timing(clock: list[float], save: float, between: float, evaluation: Evaluation) -> Timing:
    """Return the timing of a generation.

    Args:
        save: seconds of the save before this generation.
        between: seconds between the previous generation and this one, including that save.
    """
    ask, evaluate, tell, _ = np.diff(clock).tolist()
    return Timing(
        ask=ask,
        evaluate=evaluate,
        tell=tell,
        save=save,
        total=clock[-1] - clock[0] + between,
        episodes_per_second=evaluation.returns.size / evaluate,
        steps_per_second=float(evaluation.lengths.sum()) / evaluate,
        idle=evaluation.idle,
    )
