"""Trained agents: loading, evaluating and saving them."""
