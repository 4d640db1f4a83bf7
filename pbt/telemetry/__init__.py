"""What a population prints and logs while it trains."""
