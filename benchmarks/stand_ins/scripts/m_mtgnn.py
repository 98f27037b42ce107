"""Six series as a table without a head."""

import numpy

numpy.savetxt("x.txt", numpy.random.default_rng(0).random((260, 6)) + 0.1, delimiter=",")
