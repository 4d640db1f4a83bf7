"""The figures and the page of a population."""
