"""Whole episodes without the interpreter."""
