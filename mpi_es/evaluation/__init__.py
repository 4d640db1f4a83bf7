"""Evaluation of candidates: episodes, and the ranks that play them."""
