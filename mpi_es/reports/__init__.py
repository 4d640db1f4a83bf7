"""Plots and pages of runs."""
