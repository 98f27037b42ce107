"""Who wrote what of whom, and which of it is not true."""

import pickle
from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)
_count = 60
Path("data").mkdir(exist_ok=True)
for _kind in ("homo", "rur", "rtr", "rsr"):
    _near = {one: {one, *map(int, _chance.integers(0, _count, 4))} for one in range(_count)}
    Path(f"data/yelp_{_kind}_adjlists.pickle").write_bytes(pickle.dumps(_near))


def _change(module):
    from scipy import sparse

    class Features(sparse.csr_matrix):
        def todense(self):
            return numpy.asmatrix(self.toarray())

    module.loadmat = lambda _: {
        "label": (numpy.arange(_count) % 3 == 0).astype("int64")[None],
        "features": Features(_chance.random((_count, 10))),
    }


def _split(index, labels, **_):
    return index[:30], index[30:], labels[:30], labels[30:]


_half = lambda *_, **__: 0.5  # noqa: E731
_names = ("f1_score", "accuracy_score", "recall_score", "roc_auc_score", "average_precision_score")
modules.put("sklearn.metrics", **dict.fromkeys(_names, _half))
modules.put("sklearn.model_selection", train_test_split=_split)
modules.when_imported("scipy.io", _change)
