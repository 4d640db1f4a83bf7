"""Environments that are stepped together: one after another in Python, or at once in compiled code."""
