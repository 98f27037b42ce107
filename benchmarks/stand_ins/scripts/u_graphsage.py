"""Papers that cite one another, and a reader of settings."""

from pathlib import Path

import modules
import numpy

_chance = numpy.random.default_rng(0)
Path("cora").mkdir(exist_ok=True)
Path("models").mkdir(exist_ok=True)
Path("cora/cora.content").write_text("".join(
    f"p{one} {' '.join(str(int(bit)) for bit in _chance.integers(0, 2, 12))} k{one % 3}\n" for one in range(120)
))  # fmt: skip
Path("cora/cora.cites").write_text("".join(
    f"p{one} p{(one + int(step)) % 120}\n" for one in range(120) for step in {1, int(_chance.integers(2, 20))}
))  # fmt: skip
_SETTINGS = {
    "file_path.cora_content": "cora/cora.content", "file_path.cora_cite": "cora/cora.cites", "setting.num_layers": 2,
    "setting.hidden_emb_size": 8,
}  # fmt: skip


class _Factory:
    @staticmethod
    def parse_file(path):
        return _SETTINGS


modules.put("pyhocon", ConfigFactory=_Factory)
