"""What slurm/*.sh ask before they start a job."""
