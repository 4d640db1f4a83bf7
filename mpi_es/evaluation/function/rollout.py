"""A function in place of a policy and its environment: an episode is one call of it."""

import math
import os
import signal
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from mpi_es.arrays import Vector
from mpi_es.errors import RolloutError, UserError, expected, one_line
from mpi_es.evaluation.function.call_directories import CallDirectories
from mpi_es.evaluation.function.problem import (
    NO_NUMBER,
    Problem,
    as_number,
    as_vector,
    short,
    takes,
    unused_fields,
)
from mpi_es.evaluation.rollout import Episode, EpisodeRules, Results, Rollout, Source
from mpi_es.parallel.collectives import Comm
from mpi_es.parallel.rank_groups import Failure, RankGroups, Work

_SHOWN = 100  # numbers of x that an error shows
_UNLIMITED = nullcontext()
_HERE = os.path.dirname(__file__)  # tracebacks omit frames of this folder


class FunctionRollout(Rollout):
    """Calls a function with one candidate after another; `policy` is the problem.

    Args:
        failures_are_worst: whether a call that fails gets the fitness NaN instead of ending the run.
        timeout: seconds after which a call fails; 0: never.
        groups: of the ranks that call the function together, if it takes a communicator.
        directories: of the calls, if the function takes one.
    """

    policy: Problem
    parameter_precision = "f8"
    spaces = (None, None)
    limit = 1  # a call counts as one step
    width = 1

    def __init__(
        self,
        problem: Problem,
        *,
        failures_are_worst: bool = False,
        timeout: float = 0.0,
        groups: RankGroups = Rollout.groups,
        directories: CallDirectories | None = None,
    ) -> None:
        if timeout and threading.current_thread() is not threading.main_thread():
            raise expected("--call-timeout", "0 in a thread that is not the main one", timeout)
        self.policy = problem
        self.failures_are_worst, self.timeout = failures_are_worst, timeout
        self.groups, self.directories = groups, directories
        self.exact = not takes(problem.function, "seed")
        self.constraints = problem.constraints
        self.unused = unused_fields(problem.function)

    def run(self, source: Source, rules: EpisodeRules, width: int | None = None) -> Results:
        """Make all calls that the source gives, and return their rows."""
        rows: list[tuple[float, ...]] = []
        while (episode := source.take(block=True)) is not None:
            x = episode.parameters if rules.saved_x else self.policy.whole(episode.parameters)
            fitness, *constraints = self._evaluated(x, episode, rules)
            rows.append((episode.episode_id, fitness, 1, *constraints))
            source.done(episode.episode_id, 1)
            source.poll()
        return np.array(rows, np.float64).reshape(-1, 3 + self.constraints)

    def _name(self, episode: Episode, rules: EpisodeRules) -> str:
        """Return the name of a call's directory."""
        if rules.saved_x:
            return "best"
        of_candidate = "centre" if rules.held_out else f"{episode.candidate:04d}"
        number = "" if self.exact else f"-{episode.number:03d}"
        return f"{rules.generation:05d}-{of_candidate}{number}"

    def _evaluated(self, x: Vector, episode: Episode, rules: EpisodeRules) -> list[float]:
        """Return the fitness of x, and then its constraints, from a call in its directory."""
        keywords: dict[str, Any] = {} if self.exact else {"seed": episode.seed}
        where = "the best x of the saved run" if rules.saved_x else f"candidate {episode.candidate}"
        where += "" if self.exact else f", seed {episode.seed}"
        if self.directories is None:
            return self._call(x, keywords, where)
        keywords["directory"] = path = self.directories.begin(self._name(episode, rules))
        failed = True
        try:
            values = self._call(x, keywords, where)
            failed = math.isnan(values[0])
        finally:
            self.directories.end(path, failed=failed)
        return values

    def _call(self, x: Vector, keywords: dict[str, Any], where: str) -> list[float]:
        """Return the fitness of x and its constraints, from this rank's call or from that of its group."""
        work = Work(where, (x, keywords))
        group = self.groups.group
        returned, failure = group.lead(work, self.attempt) if group else self.attempt(None, work)
        if failure:
            return self._failed(f"{where}: {failure.text}", x, failure.frames)
        value, *constraints = self._numbers(returned, where)
        if not math.isfinite(value):
            return self._failed(f"{where}: expected a finite number, got {value}", x)
        if not all(map(math.isfinite, constraints)):
            return self._failed(f"{where}: expected finite constraints, got {short(constraints)}", x)
        return [self.policy.sign * value, *constraints]

    def attempt(self, comm: Comm, work: Work) -> tuple[Any, Failure | None]:
        """Call the function; return its result and None, or None and the failure."""
        x, keywords = work.arguments
        shared = {} if comm is None else {"comm": comm}
        try:
            with _time_limit(self.timeout) if self.timeout else _UNLIMITED:
                return self.policy.function(x.copy(), **keywords, **shared), None
        except BaseException as error:  # a function may call exit
            frames = traceback.extract_tb(error.__traceback__)
            users = [frame for frame in frames if os.path.dirname(frame.filename) != _HERE]
            return None, Failure(one_line(error), "".join(traceback.format_list(users)))

    def _numbers(self, returned: Any, where: str) -> list[float]:
        """Return what a call returned as numbers: the value, and then the constraints."""
        try:
            # A call that failed may return NaN without constraints.
            value, constraints = returned if self.constraints and not _is_nan(returned) else (returned, ())
            number = as_number(value)
            if not self.constraints or math.isnan(number):
                return [number] * (1 + self.constraints)
            limits = np.atleast_1d(as_vector("constraints", constraints))
            if limits.shape != (self.constraints,):
                raise ValueError
        except (*NO_NUMBER, UserError) as error:
            rule = (
                f"a number and an array of {self.constraints} constraints" if self.constraints else "a number"
            )
            shape = f", of shape {tuple(returned.shape)}" if hasattr(returned, "shape") else ""
            got = f"expected the function to return {rule}, got {short(repr(returned))}{shape}"
            raise RolloutError(f"{where}: {got}") from error
        return [number, *limits.tolist()]

    def _failed(self, text: str, x: Vector, frames: str = "") -> list[float]:
        """Return NaNs for a call that failed, or raise the error that ends the run."""
        if self.failures_are_worst:
            self.failure = self.failure or text
            return [math.nan] * (1 + self.constraints)
        more = f" and {len(x) - _SHOWN} more" if len(x) > _SHOWN else ""
        error = RolloutError(f"{text}\nx = {x[:_SHOWN].tolist()}{more}\n{frames}".rstrip())
        error.x = x
        raise error


def _is_nan(returned: Any) -> bool:
    """Return whether a call returned nothing but NaN."""
    try:
        return math.isnan(as_number(returned))
    except NO_NUMBER:
        return False


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in a block that takes longer than `seconds`."""

    def end(number: int, frame: Any) -> None:
        raise TimeoutError(f"the call took longer than {seconds:g} s")

    previous = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
