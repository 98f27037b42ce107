"""Training frameworks: Transformers, TRL, Accelerate, Lightning.

Frameworks hide the training loop and its device. What remains in the script is their configuration; these rules know
which of its values do not work on an XLA device.
"""
