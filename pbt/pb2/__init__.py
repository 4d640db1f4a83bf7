"""PB2 (arXiv:2002.02518): a bandit that suggests hyperparameters from those of all members so far."""
