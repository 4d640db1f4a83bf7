"""What a run is told: its options, their presets, and from a command line to them."""
