"""Fields seen from above, on many days."""

import json
import pickle
from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)
for _folder in ("made/DATA", "made/META"):
    Path(_folder).mkdir(parents=True, exist_ok=True)
_kinds = [1, 3, 4, 5, 6, 8]
for _number in range(21):
    numpy.save(f"made/DATA/{_number}.npy", _chance.integers(0, 4000, (5, 10, 4 + _number % 7)).astype("uint16"))
_labels = {str(_number): _kinds[_number % 6] for _number in range(21)}
Path("made/META/labels.json").write_text(json.dumps({"label_44class": _labels}))
Path("made/META/dates.json").write_text(json.dumps({str(_one): 20170101 + 100 * _one for _one in range(5)}))
_mean, _deviation = numpy.full(10, 2000.0), numpy.full(10, 900.0)
Path("made/S2-2017-T31TFM-meanstd.pkl").write_bytes(pickle.dumps((_mean, _deviation)))


class Folds:
    def __init__(self, n_splits, shuffle):
        self._count = n_splits

    def split(self, items):
        for part in numpy.array_split(numpy.arange(len(items)), self._count):
            yield numpy.setdiff1d(numpy.arange(len(items)), part), part


class Errors:
    """Counts what a classifier got right; like the real one, it reads the tensors that it is given."""

    def __init__(self, accuracy=False):
        self._right = self._all = 0

    def add(self, output, target):
        output, target = (one.cpu().squeeze().numpy() for one in (output, target))
        self._right += (output.reshape(-1, output.shape[-1]).argmax(axis=1) == target).sum()
        self._all += target.size

    def value(self):
        return [100.0 * float(self._right) / max(self._all, 1)]


class Average:
    def __init__(self):
        self._values = []

    def add(self, value):
        self._values.append(value)

    def value(self):
        return float(numpy.mean(self._values)), float(numpy.std(self._values))


def _confusion(true, found, labels):
    counts = numpy.zeros((len(labels), len(labels)))
    numpy.add.at(counts, (numpy.array(true), numpy.array(found)), 1)
    return counts


class Table:
    """As much of a table as is read: means of what each class has."""

    def __init__(self, columns):
        self._columns = columns

    def transpose(self):
        return self

    def mean(self):
        rows = list(self._columns.values())
        self.loc = {name: float(numpy.nanmean([row[name] for row in rows])) for name in rows[0]}
        return self


modules.put("pandas", DataFrame=Table)
modules.put("sklearn.model_selection", KFold=Folds)
modules.put("sklearn.metrics", confusion_matrix=_confusion)
_meters = modules.put("torchnet.meter", ClassErrorMeter=Errors, AverageValueMeter=Average)
modules.put("torchnet", meter=_meters)
