"""Libraries for drawings and other data."""

import made_up_data  # noqa: F401
import modules

for _name in ("umap", "gensim.models", "torchnet.dataset"):
    modules.put(_name)
