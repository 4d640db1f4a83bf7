"""The implementation of calls from scripts: arguments, directories, and a run on all ranks."""
