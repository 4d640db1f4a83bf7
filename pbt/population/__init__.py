"""The members on the ranks, and how their states travel."""
