"""Who rated what how well, and who knows whom."""

import pickle
from pathlib import Path

import made_up_data  # noqa: F401
import numpy

_chance = numpy.random.default_rng(0)
_rated = [(user, int(item), int(_chance.integers(0, 8))) for user in range(12) for item in _chance.choice(15, 5)]
_rated += [(int(_chance.integers(0, 12)), item, int(_chance.integers(0, 8))) for item in range(15)]
_lists = [{}, {}, {}, {}]
for _user, _item, _how in _rated:
    for _list, _key, _value in zip(_lists, (_user, _user, _item, _item), (_item, _how, _user, _how), strict=True):
        _list.setdefault(_key, []).append(_value)
_chance.shuffle(_rated)
_train, _test = [tuple(map(int, one)) for one in _rated[:46]], [tuple(map(int, one)) for one in _rated[46:69]]
_friends = {user: {int(one) for one in _chance.integers(0, 12, 3)} for user in range(12)}
_columns = [list(column) for part in (_train, _test) for column in zip(*part, strict=True)]
_marks = {0.5 * (number + 1): number for number in range(8)}
for _number in (2, 5):
    _columns[_number] = [0.5 * (one + 1) for one in _columns[_number]]
Path("data").mkdir(exist_ok=True)
Path("data/toy_dataset.pickle").write_bytes(pickle.dumps((*_lists, *_columns, _friends, _marks)))
