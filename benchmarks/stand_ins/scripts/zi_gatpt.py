"""Papers that cite each other."""

from pathlib import Path

import made_up_data  # noqa: F401
import numpy

_chance = numpy.random.default_rng(0)
Path("cora").mkdir(exist_ok=True)
_kinds = [f"kind{one}" for one in _chance.integers(0, 4, 1632)]
Path("cora/cora.content").write_text("".join(
    f"{number + 7}\t" + "\t".join(map(str, (_chance.random(12) < 0.3).astype(int))) + f"\t{kind}\n"
    for number, kind in enumerate(_kinds)
))  # fmt: skip
_cites = {tuple(one) for one in _chance.integers(7, 1639, (3000, 2)).tolist()}
Path("cora/cora.cites").write_text("".join(f"{one}\t{other}\n" for one, other in sorted(_cites)))
