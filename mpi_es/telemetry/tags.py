"""The numbers of a generation under the names that TensorBoard and callbacks show."""

from typing import Any

from mpi_es.run_file.records import HeldOut, Row, Timing, scalars, shown, sign

# A function's runs have other tags: an episode is a call.
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


class Tags:
    """Name the numbers of one generation after the other, and count the steps of all.

    Args:
        steps: of the generations before.
    """

    def __init__(self, config: Any, steps: int = 0) -> None:
        self._config, self._steps = config, steps

    def generation(self, row: Row, timing: Timing, held_out: HeldOut | None) -> dict[str, float]:
        """Return the known numbers of a generation."""
        self._steps += row.steps
        named = dict(scalars(shown(self._config, row))) | dict(scalars(timing))
        named |= {"total/steps": float(self._steps)} | (self.held_out(held_out) if held_out else {})
        if not self._config.function:
            return named
        return {_OF_FUNCTIONS.get(tag, tag): named[tag] for tag in named if tag not in _OF_EPISODES}

    def held_out(self, held_out: HeldOut) -> dict[str, float]:
        """Return the numbers of a held-out evaluation."""
        return dict(scalars(HeldOut(held_out.generation, sign(self._config) * held_out.returns)))
