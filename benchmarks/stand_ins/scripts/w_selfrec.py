"""What people looked at, in order, a smaller configuration, and the name of the model that the script asks for."""

import builtins
from pathlib import Path

import modules
import numpy

_chance = numpy.random.default_rng(0)
Path("dataset/made").mkdir(parents=True, exist_ok=True)
_train, _test = [], []
for _user in range(37):
    _items = [int(one) for one in _chance.choice(60, int(_chance.integers(4, 16)), replace=False)]
    _train.append(f"u{_user}:" + " ".join(f"i{one}" for one in _items[:-1]))
    _test.append(f"u{_user}:i{_items[-1]}")
Path("dataset/made/train.txt").write_text("\n".join(_train) + "\n")
Path("dataset/made/test.txt").write_text("\n".join(_test) + "\n")
Path("conf/SASRec.yaml").write_text("""training.set: ./dataset/made/train.txt
test.set: ./dataset/made/test.txt
model: {name: SASRec, type: sequential}
item.ranking.topN: [5,10]
embedding.size: 8
max.epoch: 3
batch.size: 8
learning.rate: 0.001
reg.lambda: 0.0001
max.len: 10
SASRec: {n_blocks: 1, drop_rate: 0.2, n_heads: 1}
output: ./results/
""")
builtins.input = lambda *_: "SASRec"


def _compiled(*given, **_):
    return given[0] if given and callable(given[0]) else lambda function: function


modules.put("numba", jit=_compiled, njit=_compiled)
