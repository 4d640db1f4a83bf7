"""Compiled policies: one network's step without the interpreter, and those of several networks in turn."""
