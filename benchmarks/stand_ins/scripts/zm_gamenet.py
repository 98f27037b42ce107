"""Visits of a few patients, what belongs together, a network that is not used, and a score by its old name."""

from pathlib import Path
from types import SimpleNamespace

import dill
import made_up_data  # noqa: F401
import modules
import numpy

modules.put("dnc", DNC=modules.Anything)
_chance = numpy.random.default_rng(0)
_SIZES = {"diag_voc": 30, "pro_voc": 12, "med_voc": 16}
_patients = [
    [
        [sorted(map(int, _chance.choice(size, 3 + visit, replace=False))) for size in _SIZES.values()]
        for visit in range(2 + patient % 2)
    ]
    for patient in range(6)
]
_voc = {name: SimpleNamespace(idx2word={one: str(one) for one in range(size)}) for name, size in _SIZES.items()}
_near = (_chance.random((2, 16, 16)) < 0.2).astype("float64")
_near = numpy.maximum(_near, _near.transpose(0, 2, 1))
Path("../data").mkdir(exist_ok=True)
for _name, _kept in (
    ("records_final", _patients), ("voc_final", _voc), ("ehr_adj_final", _near[0]), ("ddi_A_final", _near[1]),
):  # fmt: skip
    Path(f"../data/{_name}.pkl").write_bytes(dill.dumps(_kept))


def _give_back(metrics):
    metrics.jaccard_similarity_score = metrics.accuracy_score


modules.when_imported("sklearn.metrics", _give_back)
