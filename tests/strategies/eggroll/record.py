"""Record what the published code of EGGROLL computes, for tests/strategies/test_low_rank.py.

git clone of HyperscaleES by its authors, `pip install jax optax`, and
python tests/strategies/eggroll/record.py HyperscaleES/src/hyperscalees/noiser published.npz
"""

import sys
import types
from importlib import util
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

SIGMA, CANDIDATES = 0.05, 8
SHAPES = {"matrix": (5, 3), "vector": (4,)}


def load(folder):
    """Return the module eggroll without the rest of its package, which needs more."""
    package = types.ModuleType("noiser")
    package.__path__ = [str(folder)]
    sys.modules["noiser"] = package
    for name in ("base_noiser", "eggroll"):
        spec = util.spec_from_file_location(f"noiser.{name}", folder / f"{name}.py")
        module = util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    return module


def main():
    eggroll, recorded = load(Path(sys.argv[1])), {}
    key = jax.random.key(3)
    fitness = jax.random.normal(jax.random.key(4), (CANDIDATES,))
    ids = jnp.arange(CANDIDATES)
    epochs = jnp.zeros(CANDIDATES, int)
    params = {
        name: jax.random.normal(jax.random.key(i), shape) for i, (name, shape) in enumerate(SHAPES.items())
    }
    x = jax.random.normal(jax.random.key(9), (3,))
    for rank in (1, 3):
        # Steps of sgd with a learning rate of 1 are the updates.
        frozen, state = eggroll.EggRoll.init_noiser(params, SIGMA, 1.0, rank=rank)
        keys, kinds = {"matrix": key, "vector": key}, {"matrix": 1, "vector": 0}
        scores = eggroll.EggRoll.convert_fitnesses(frozen, state, fitness)
        _, after = eggroll.EggRoll.do_updates(frozen, state, params, keys, scores, (epochs, ids), kinds)
        drawn = [eggroll.get_lora_update_params(frozen, 1.0, (0, i), params["matrix"], key) for i in ids]
        moved = [eggroll.get_nonlora_update_params(frozen, 1.0, (0, i), params["vector"], key) for i in ids]
        answers = [eggroll.EggRoll.do_mm(frozen, state, params["matrix"], key, (0, i), x) for i in ids]
        found = {"left": [a for a, _ in drawn], "right": [b for _, b in drawn], "moved": moved}
        found |= {"answers": answers, "scores": scores}
        found |= {f"{name} after": after[name] for name in SHAPES}
        recorded |= {
            f"{name}, rank {rank}": np.asarray(jnp.stack(value) if isinstance(value, list) else value)
            for name, value in found.items()
        }
    recorded |= {name: np.asarray(value) for name, value in params.items()} | {"fitness": fitness, "x": x}
    np.savez_compressed(sys.argv[2], **recorded)


if __name__ == "__main__":
    main()
