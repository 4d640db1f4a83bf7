"""Trained agents: from files, and into them."""
