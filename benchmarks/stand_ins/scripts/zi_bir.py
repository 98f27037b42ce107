"""Nothing is drawn."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules

for _folder in ("store/results", "store/models", "store/plots"):
    Path(_folder).mkdir(parents=True, exist_ok=True)
modules.put("matplotlib.backends.backend_pdf")
