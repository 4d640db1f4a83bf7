"""The output and logs of a population's training."""
