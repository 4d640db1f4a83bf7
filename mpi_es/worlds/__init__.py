"""Compiled environments: whole episodes of them run without the interpreter."""
