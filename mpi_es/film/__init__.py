"""One episode as a film."""
