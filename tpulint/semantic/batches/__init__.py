"""Batches: data loaders, what makes and collates samples, and the loops that are fed."""
