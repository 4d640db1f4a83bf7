"""The output and logs of a run."""
