"""Running on many devices.

One process drives each device. Process groups, gradient averaging, samplers and ranks of a GPU script have
counterparts, and some mistakes here train without an error and train wrongly.
"""
