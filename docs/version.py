"""A hook of MkDocs: the foot of each page names the version that it describes."""

from typing import Any

from mpi_es import __version__


def on_config(config: Any) -> Any:
    """Return the settings with the version in the foot."""
    config.copyright = f"mpi_es {__version__}"
    return config
