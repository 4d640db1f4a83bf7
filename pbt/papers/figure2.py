"""Figure 2 of the paper (arXiv:1711.09846): four ways of training the toy problem,
shown by theta and by Q.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from mpi_es.parallel.collectives import SerialComm
from mpi_es.reports.drawing import COLOURS, Panel
from pbt.config import Config
from pbt.members import space
from pbt.members.toy import Toy
from pbt.packing import State
from pbt.population.population import Population
from pbt.presets import preset
from pbt.run import Run

NAME = "figure2.png"
_LOOKS = ((COLOURS[1], 3.0), ("black", 1.0))  # so that both members are visible where they coincide


class Traced(Toy):
    """A toy that records theta after each step."""

    def __init__(self, config: Config, index: int, *arguments: Any) -> None:
        super().__init__(config, index, *arguments)
        self.path = [self.theta]

    def train(self, steps: int) -> None:
        """Take the steps one by one."""
        for _ in range(steps):
            super().train(1)
            self.path.append(self.theta)

    def adopt(self, state: State) -> None:
        """Copy theta, and record it in place of the last one."""
        super().adopt(state)
        self.path[-1] = self.theta


def settings(seed: int) -> dict[str, Config]:
    """Return the figure's four settings, from left to right."""
    toy = preset("toy", member="pbt.papers.figure2:Traced", seed=seed)
    return {
        "PBT": toy,
        "explore only": replace(toy, copy="nothing"),
        "exploit only": replace(toy, explore="none"),
        "grid search": replace(toy, selection="none"),
    }


def paths(config: Config) -> NDArray[np.float64]:
    """Return theta (members, steps + 1, 2) of a whole run."""
    population = Population(config, space(config), SerialComm())
    Run(population, population.initial(), 0, None).evolve()
    members: list[Any] = list(population.members.values())
    return np.array([member.path for member in members])


def scores(theta: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Q (members, steps + 1)."""
    q: NDArray[np.float64] = 1.2 - (theta**2).sum(axis=-1)
    return q


def panels(seed: int) -> list[Panel]:
    """Return the figure's panels, two rows of four: theta, and below it Q."""
    above, below = [], []
    for title, config in settings(seed).items():
        theta = paths(config)
        above.append(Panel(title, r"θ₀", partial(_draw_theta, theta=theta), up=r"θ₁"))
        below.append(Panel(title, "step", partial(_draw_scores, theta=theta), up="Q"))
    return above + below


def _draw_theta(axes: Axes, theta: NDArray[np.float64]) -> None:
    axes.plot(
        0, 0, "*", ms=11, color=COLOURS[4], mec="grey", mew=0.6, zorder=0, label="optimum", clip_on=False
    )
    for member, (color, width) in enumerate(_LOOKS):
        axes.plot(*theta[member].T, ".", ms=1 + width, color=color, label=f"member {member}")
    axes.set(xlim=(-0.05, 1), ylim=(-0.05, 1))


def _draw_scores(axes: Axes, theta: NDArray[np.float64]) -> None:
    for q, (color, width) in zip(scores(theta), _LOOKS, strict=True):
        axes.plot(q, color=color, lw=width)
    axes.axhline(1.2, color="grey", lw=0.6, ls="--")
    axes.set_ylim(-0.5, 1.3)
