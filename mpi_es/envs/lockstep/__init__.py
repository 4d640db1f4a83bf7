"""Environments that are stepped together: one after the other in Python, or at once in compiled code."""
