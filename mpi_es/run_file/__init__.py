"""A run on disk: run.h5 and its content."""
