"""What users bought, of several lengths, and how many there are."""

import pickle
from pathlib import Path

import modules
import numpy

_chance = numpy.random.default_rng(0)
_folder = Path("data/dataset/Amazon/CDs")
_folder.mkdir(parents=True, exist_ok=True)
_records = [[int(one) for one in _chance.permutation(40)[: int(_chance.integers(6, 18))]] for _ in range(15)]
for _name, _data in (
    ("item_sequences", _records),
    ("user_mapping", list(range(15))),
    ("item_mapping", list(range(40))),
):
    (_folder / f"CDs_{_name}.pkl").write_bytes(pickle.dumps(_data))


def _change(module):
    init = module.CDs.__init__

    def fewer(self):
        init(self)
        self.num_users, self.num_items = 15, 40

    module.CDs.__init__ = fewer


modules.when_imported("data.Amazon", _change)
