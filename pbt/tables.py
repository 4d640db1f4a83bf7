"""python -m pbt.tables [FILE…]: the tables of options and presets, read from the config."""

import sys

from mpi_es.config import tables as options
from pbt.config import Config
from pbt.presets import PRESETS


def tables() -> dict[str, str]:
    """Return the tables in Markdown by the names of their markers."""
    return {
        "pbt options": options.options_table(Config),
        "pbt presets": options.presets_table(PRESETS),
    }


if __name__ == "__main__":
    options.main(sys.argv[1:], tables())
