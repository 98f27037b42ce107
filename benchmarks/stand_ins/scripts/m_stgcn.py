"""Series of two features at eight nodes, and how the nodes are connected."""

from pathlib import Path

import numpy

_noise = numpy.random.default_rng(0)
Path("data").mkdir(exist_ok=True)
numpy.save("data/adj_mat.npy", (_noise.random((8, 8)) > 0.5).astype("float32"))
numpy.save("data/node_values.npy", _noise.random((300, 8, 2)).astype("float32"))
numpy.asscalar = lambda array: array.item()
