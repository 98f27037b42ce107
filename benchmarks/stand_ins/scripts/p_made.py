"""Digits that are black or white."""

import numpy

_noise = numpy.random.default_rng(0)
numpy.savez(
    "mnist.npz", train_data=(_noise.random((250, 784)) > 0.5).astype("float32"),
    valid_data=(_noise.random((150, 784)) > 0.5).astype("float32"),
)  # fmt: skip
