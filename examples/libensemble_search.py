"""Let libEnsemble call the function; a strategy of mpi_es suggests its points.

`pip install 'mpi_es[gest]' libensemble`; from this folder:

    python libensemble_search.py

libEnsemble manages the workers and their resources, and keeps the history of all calls.
"""

from gest_api.vocs import VOCS
from libensemble import Ensemble
from libensemble.alloc_funcs.start_only_persistent import only_persistent_gens
from libensemble.specs import AllocSpecs, ExitCriteria, GenSpecs, LibeSpecs, SimSpecs

from mpi_es.gest import ESGenerator

GENERATIONS, POPULATION_SIZE = 60, 16


def rosenbrock(point):
    return {"f": (1 - point["x"]) ** 2 + 100 * (point["y"] - point["x"] ** 2) ** 2}


def main():
    vocs = VOCS(variables={"x": [-2, 2], "y": [-1, 3]}, objectives={"f": "MINIMIZE"})
    generator = ESGenerator(vocs, population_size=POPULATION_SIZE, seed=1)
    ensemble = Ensemble(
        # The generator runs in this process, and gets the last generation's values too.
        libE_specs=LibeSpecs(comms="local", nworkers=2, gen_on_manager=True, final_gen_send=True),
        gen_specs=GenSpecs(generator=generator, batch_size=POPULATION_SIZE, vocs=vocs),
        sim_specs=SimSpecs(simulator=rosenbrock, vocs=vocs),
        alloc_specs=AllocSpecs(alloc_f=only_persistent_gens),
        exit_criteria=ExitCriteria(sim_max=GENERATIONS * POPULATION_SIZE),
    )
    history, *_ = ensemble.run()
    search = generator.search
    print(f"{len(history)} calls, {search.generation} generations")
    print(f"found {search.best}, with value {search.best_value:.2g}")


if __name__ == "__main__":
    main()
