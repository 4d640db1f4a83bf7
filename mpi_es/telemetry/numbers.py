"""The numbers of a generation under the names that TensorBoard, callbacks and consoles show."""

from collections.abc import Iterator

from mpi_es.config.run import Config
from mpi_es.run_file.history import History
from mpi_es.run_file.records import Feasibility, HeldOut, Row, Timing, in_users_sign, scalars
from mpi_es.telemetry.view import Numbers

# Names in runs of functions, where an episode is a call.
_OF_FUNCTIONS = {
    "fitness/min": "fitness/worst",
    "generation/episodes": "generation/calls",
    "speed/episodes_per_second": "speed/calls_per_second",
}
_OF_EPISODES = {
    "generation/steps",
    "total/steps",
    "episode_length/mean",
    "episode_length/cap",
    "speed/steps_per_second",
}


def of_generation(
    config: Config,
    row: Row,
    timing: Timing,
    held_out: HeldOut | None,
    steps: int,
    feasibility: Feasibility | None = None,
) -> Numbers:
    """Return the numbers of a generation that are known.

    Args:
        steps: of all generations so far.
    """
    named = {"generation": row.generation} | dict(scalars(in_users_sign(row, config.sign)))
    named |= dict(scalars(timing))
    named |= {"total/steps": float(steps)} | (of_evaluation(config, held_out) if held_out else {})
    named |= dict(scalars(in_users_sign(feasibility, config.sign))) if feasibility else {}
    if not config.function:
        return named
    return {_OF_FUNCTIONS.get(name, name): named[name] for name in named if name not in _OF_EPISODES}


def of_evaluation(config: Config, held_out: HeldOut) -> Numbers:
    """Return the numbers of a held-out evaluation."""
    seen = HeldOut(held_out.generation, config.sign * held_out.returns)
    return {"generation": held_out.generation} | dict(scalars(seen))


def of_past(config: Config, history: History) -> Iterator[Numbers]:
    """Yield the mean fitness of earlier generations, then the held-out evaluations."""
    rows = history.rows.content()
    for generation, mean in zip(rows["generation"].tolist(), rows["mean"].tolist(), strict=True):
        yield {"generation": generation, "fitness/mean": config.sign * mean}
    for held_out in history.evaluations:
        yield of_evaluation(config, held_out)
