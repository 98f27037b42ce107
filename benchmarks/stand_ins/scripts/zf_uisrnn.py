"""Who speaks when: what was said as numbers, and a log without colours."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)


def _spoken(lengths):
    ids = [numpy.repeat(_chance.integers(0, 3, length // 4), 4) for length in lengths]
    return [_chance.normal(size=(len(one), 16)) + one[:, None] for one in ids], ids


class Log:
    def __init__(self, _):
        pass

    def print(self, _, text):
        print(text)


Path("data").mkdir(exist_ok=True)
_told, _who = _spoken((44, 36, 52))
_later, _then = _spoken((12, 8))
_names = numpy.concatenate([[f"{at}_{kind}" for kind in ids] for at, ids in enumerate(_who)])
numpy.savez("data/toy_training_data.npz", train_sequence=numpy.concatenate(_told), train_cluster_id=_names.astype("U8"))
_kept = {"test_sequences": _later, "test_cluster_ids": [[f"{kind}" for kind in ids] for ids in _then]}
for _key, _value in _kept.items():
    _boxed = numpy.empty(2, dtype=object)
    _boxed[:] = _value
    _kept[_key] = _boxed
numpy.savez("data/toy_testing_data.npz", **_kept)
modules.put("colortimelog", Logger=Log)
