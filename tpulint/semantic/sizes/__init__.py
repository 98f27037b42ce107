"""Sizes: numbers, lengths and masks that differ from turn to turn, and dimensions that do not."""
