"""Members that are algorithms of Stable-Baselines3."""
