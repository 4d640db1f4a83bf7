"""Plain pycma with our random numbers, to compare with."""

import cma
import numpy as np
from cma.restricted_gaussian_sampler import GaussVDSampler, GaussVkDSampler

from mpi_es.seeds import Stream, rng


class Plain:
    """Plain pycma, driven as its own documentation says."""

    def __init__(self, variant, dim, popsize, sigma=0.3, **options):
        self.generator = rng(3, Stream.SAMPLE, 0, 1)
        options |= {"popsize": popsize, "randn": self.draw, "seed": np.nan, "verbose": -9}
        if variant in ("separable", "isotropic"):
            options["CMA_diagonal"] = True
        if variant == "isotropic":
            options["CMA_on"] = 0
        if variant in ("vd", "vkd"):
            sampler = {"vd": GaussVDSampler, "vkd": GaussVkDSampler}[variant]
            options = sampler.extend_cma_options(options)
            options["CMA_sampler_options"] = {"randn": self.draw}
        self.es = cma.CMAEvolutionStrategy(dim * [0.7], sigma, options)

    def draw(self, *shape):
        return self.generator.standard_normal(shape)

    def run(self, generations, loss, after=lambda: None):
        """Run generations; return what they asked (generations, popsize, dim)."""
        asked = []
        for generation in range(generations):
            self.generator = rng(3, Stream.SAMPLE, generation)
            asked.append(self.es.ask())
            self.es.tell(asked[-1], [loss(row) for row in asked[-1]])
            after()
        return np.array(asked)
