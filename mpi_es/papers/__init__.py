"""Parts that reproduce papers and other projects: Atari's frames and networks,
the order of parameters in a file.
"""
