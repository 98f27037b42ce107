"""Checkpoints and seeds.

Saving, loading and seeding touch device state that XLA keeps elsewhere than CUDA does.
"""
