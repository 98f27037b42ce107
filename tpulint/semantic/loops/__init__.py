"""Loops and steps: where in the training a line runs, how often, and where step boundaries belong."""
