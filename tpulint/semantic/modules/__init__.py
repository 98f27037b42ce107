"""Modules, optimizers and their weights: how models are put together, moved, run, updated and saved."""
