"""The picture from the areas that shapes cover, close to gymnasium's and fast."""
