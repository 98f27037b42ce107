"""Who rated what, and who trusts whom."""

import pickle
from pathlib import Path

import made_up_data  # noqa: F401
import numpy

_chance = numpy.random.default_rng(0)
_drawn = {tuple(map(int, _chance.integers((1, 1, 1), (16, 21, 6)))) for _ in range(75)}
_rated = sorted(_drawn)
_chance.shuffle(_rated)
_rated = [tuple(map(int, one)) for one in _rated]
_test, _valid, _train = _rated[:12], _rated[12:24], _rated[24:68]
_items = [[(item, rate) for user, item, rate in _train if user == one] or [(0, 0)] for one in range(16)]
_users = [[(user, rate) for user, item, rate in _train if item == one] or [(0, 0)] for one in range(21)]
_friends = [[0]] + [sorted({int(friend) for friend in _chance.integers(1, 16, 4)}) for _ in range(15)]
_theirs = [[[(0, 0)]]] + [[_items[friend] for friend in friends] for friends in _friends[1:]]
Path("made").mkdir(exist_ok=True)
with open("made/dataset.pkl", "wb") as _file:
    for _part in (_train, _valid, _test):
        pickle.dump(_part, _file)
with open("made/list.pkl", "wb") as _file:
    for _part in (_items, _friends, _theirs, _users, (15, 20, 5)):
        pickle.dump(_part, _file)
