"""Programs that slurm/*.sh call before they start a run."""
