"""Whole episodes in compiled code, without the interpreter."""
