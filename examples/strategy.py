"""Your own strategy: the cross-entropy method, one deviation for each parameter.

From this folder:

    mpiexec -n 2 python -m mpi_es.train cartpole --strategy strategy:CrossEntropy --run-dir runs/cross-entropy
    python -m mpi_es.train --resume runs/cross-entropy --target-fitness None --max-iter 100
"""

from dataclasses import dataclass

import numpy as np

from mpi_es import Dense, Stream, rng

SHARE = 0.25  # of the population; the next one is drawn around these
FLOOR = 0.02  # of a deviation, so that the search does not end too early


@dataclass(frozen=True)
class State:
    """All that the strategy continues from. It is replaced in each generation and never changed in place."""

    generation: int
    centre: np.ndarray
    deviations: np.ndarray


class CrossEntropy:
    """The next population is drawn with the mean and the deviations of the best quarter."""

    def __init__(self, options, x0, seed, noise):
        self.seed, self.popsize = seed, options.population_size
        self.state = State(0, x0, np.full(len(x0), options.init_sigma))

    @property
    def centre(self):
        return self.state.centre

    @property
    def sigma(self):
        return float(self.state.deviations.mean())

    def ask(self):
        # A generator that depends on seed and generation only: a resumed run draws what the whole one drew.
        generator = rng(self.seed, Stream.SAMPLE, self.state.generation)
        steps = generator.standard_normal((self.popsize, len(self.centre)))
        return Dense(self.centre + self.state.deviations * steps)

    def tell(self, population, fitness):
        best = np.argsort(-fitness, kind="stable")[: max(2, int(SHARE * self.popsize))]
        rows = population.rows[best]
        deviations = np.maximum(rows.std(axis=0), FLOOR)
        self.state = State(self.state.generation + 1, rows.mean(axis=0), deviations)
