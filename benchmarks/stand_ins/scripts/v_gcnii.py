"""Papers that cite one another, in the files of Planetoid, and a dense matrix of them."""

import pickle
from pathlib import Path

import modules
import numpy
import scipy.sparse

_chance = numpy.random.default_rng(0)
_count, _test, _known = 640, 60, 30
Path("data").mkdir(exist_ok=True)
Path("pretrained").mkdir(exist_ok=True)
_words = scipy.sparse.csr_matrix(_chance.integers(0, 2, (_count, 12)).astype("float32"))
_kinds = numpy.eye(4)[numpy.arange(_count) % 4]
_rest = _count - _test
_near = {one: [(one + 1) % _count, (one + int(_chance.integers(2, 30))) % _count] for one in range(_count)}
_parts = {
    "x": _words[:_known], "y": _kinds[:_known], "tx": _words[_rest:], "ty": _kinds[_rest:], "allx": _words[:_rest],
    "ally": _kinds[:_rest], "graph": _near,
}  # fmt: skip
for _name, _part in _parts.items():
    Path(f"data/ind.cora.{_name}").write_bytes(pickle.dumps(_part))
Path("data/ind.cora.test.index").write_text("\n".join(map(str, range(_rest, _count))) + "\n")


def _change(module):
    before = module.sparse_mx_to_torch_sparse_tensor
    module.sparse_mx_to_torch_sparse_tensor = lambda given: before(given).to_dense()
    module.torch.spmm = module.torch.mm  # there are no sparse tensors there


modules.when_imported("utils", _change)
