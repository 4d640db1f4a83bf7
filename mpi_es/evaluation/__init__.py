"""Episodes, and which rank plays them."""
