"""Traffic at six places."""

from pathlib import Path

import numpy

Path("../data/PeMSD4").mkdir(parents=True, exist_ok=True)
numpy.savez("../data/PeMSD4/pems04.npz", data=numpy.random.default_rng(0).random((190, 6, 3)) * 50)
