"""What repeats one paper: the figure, the environment and the network of presets."""
