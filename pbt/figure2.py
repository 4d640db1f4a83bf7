"""Figure 2 of the paper (arXiv:1711.09846): four ways of training the toy problem, by theta and by Q."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.parallel.collectives import SerialComm
from pbt.config import Config
from pbt.loop import Run
from pbt.members import space
from pbt.members.toy import Toy
from pbt.packing import State
from pbt.population.population import Population
from pbt.presets import PRESETS

NAME = "figure2.png"
_COLORS, _WIDTHS = ("tab:red", "black"), (3, 1)  # both members are visible where they coincide


class Traced(Toy):
    """A toy that records theta after each step."""

    def __init__(self, config: Config, index: int, *place: object) -> None:
        super().__init__(config, index, *place)
        self.path = [self.theta]

    def train(self, steps: int) -> None:
        """Take the steps one by one."""
        for _ in range(steps):
            super().train(1)
            self.path.append(self.theta)

    def adopt(self, state: State) -> None:
        """Take over theta, and record it in place of the last one."""
        super().adopt(state)
        self.path[-1] = self.theta


def settings(seed: int) -> dict[str, Config]:
    """Return the figure's four settings, from left to right."""
    toy = replace(PRESETS["toy"], member="pbt.figure2:Traced", seed=seed)
    return {
        "PBT": toy,
        "explore only": replace(toy, copy="nothing"),
        "exploit only": replace(toy, explore=False),
        "grid search": replace(toy, baseline=True),
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


def draw(directory: Path, seed: int) -> Path:
    """Write the figure and return its path."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 6), layout="constrained")
    panels: Any = figure.subplots(2, 4)
    for (title, config), above, below in zip(settings(seed).items(), *panels, strict=True):
        theta = paths(config)
        for member, (color, width) in enumerate(zip(_COLORS, _WIDTHS, strict=True)):
            above.plot(*theta[member].T, ".", markersize=1 + width, color=color)
            below.plot(scores(theta)[member], color=color, linewidth=width)
        above.plot(0, 0, "*", markersize=12, color="gold", markeredgecolor="grey", zorder=0)  # the optimum
        above.set(title=title, xlabel=r"$\theta_0$", ylabel=r"$\theta_1$", xlim=(-0.05, 1), ylim=(-0.05, 1))
        below.set(xlabel="step", ylabel="Q", ylim=(-0.5, 1.3))
        below.axhline(1.2, color="grey", linewidth=0.5)
    path = directory / NAME
    figure.savefig(path, dpi=120)
    return path
