"""The picture by the areas that shapes cover, close to gymnasium's and fast."""
