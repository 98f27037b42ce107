"""Letters: 1210 classes of twenty small pictures, as the script keeps them."""

import os

import numpy

os.makedirs("omniglot", exist_ok=True)
numpy.save("omniglot/omniglot.npy", numpy.random.default_rng(0).random((1210, 20, 1, 28, 28)).astype("float16"))
