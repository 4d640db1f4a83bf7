"""Parts that reproduce papers: a figure, and the environment and network of presets."""
