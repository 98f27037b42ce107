"""A citation graph as tables, a printer of tables, and the product with a sparse matrix."""

import json
from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)
_folder = Path("made")
_folder.mkdir(exist_ok=True)
_edges = [(node, (node + 1) % 45) for node in range(45)] + [
    tuple(map(int, _chance.integers(0, 45, 2))) for _ in range(60)
]
(_folder / "edges.csv").write_text("id_1,id_2\n" + "".join(f"{one},{other}\n" for one, other in _edges))
_words = {str(node): sorted(map(int, _chance.choice(30, 6, replace=False))) for node in range(45)}
(_folder / "features.json").write_text(json.dumps(_words))
(_folder / "target.csv").write_text("id,target\n" + "".join(f"{node},{node % 4}\n" for node in range(45)))
modules.put("texttable", Texttable=modules.Anything)


def _spmm(index, value, m, n, matrix):
    import torch

    out = torch.zeros(m, matrix.shape[1], dtype=matrix.dtype, device=matrix.device)
    return out.index_add(0, index[0], value.unsqueeze(-1) * matrix.index_select(0, index[1]))


modules.put("torch_sparse", spmm=_spmm)
