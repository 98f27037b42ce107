"""What two libraries would give."""

import json

import made_up_data  # noqa: F401
import modules

_half = lambda *_, **__: 0.5  # noqa: E731
modules.put("sklearn.metrics", precision_score=_half, recall_score=_half, f1_score=_half)
modules.put("numpyencoder", NumpyEncoder=json.JSONEncoder)
for _name in ("pandas", "sklearn"):
    modules.put(_name)
