"""The options of a run: their declaration, their presets, and the parser of the command line."""
