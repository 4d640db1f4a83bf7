"""The members on the ranks, and the exchange of their states."""
