"""The packages that only some uses need, and the extra of mpi_es that installs each."""

from collections.abc import Iterator
from contextlib import contextmanager

from mpi_es.errors import UserError

EXTRA_OF = {  # by import name
    "Box2D": "sim",
    "gymnasium": "sim",
    "llvmlite": "sim",
    "numba": "sim",
    "pygame": "sim",
    "torch": "policies",
    "PIL": "report",
    "imageio_ffmpeg": "report",
    "jinja2": "report",
    "matplotlib": "report",
    "tensorboard": "tensorboard",
    "ale_py": "envs",
    "cv2": "envs",
    "envpool": "envs",
    "imageio": "envs",
    "mujoco": "envs",
    "vizdoom": "envs",
    "sb3_contrib": "pbt",
    "stable_baselines3": "pbt",
    "gest_api": "gest",
    "pandas": "examples",
}


def needs(module: str) -> str:
    """Return the message for a missing package, with the command that installs it."""
    package = module.partition(".")[0]
    extra = EXTRA_OF.get(package)
    what = f"'mpi_es[{extra}]'" if extra else "it"
    return f"needs the package {package!r}: pip install {what}"


@contextmanager
def needed_for(what: str) -> Iterator[None]:
    """Around an import: if a package of an extra is missing, raise a UserError that names the extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if missing.partition(".")[0] not in EXTRA_OF:
            raise
        raise UserError(f"{what} {needs(missing)}") from error
