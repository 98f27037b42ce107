"""Six series of 160 hours."""

import numpy

numpy.savetxt("made.txt", numpy.random.default_rng(0).random((160, 6)), delimiter=",", fmt="%.4f")
