"""Stand-ins for data, services and libraries of public scripts; Python imports this at start-up of a measured script.

``TPULINT_RECIPE`` names the script. General stand-ins come first; then ``scripts/NAME.py`` is run in the working
directory of the script, if there is one: it makes files there, or puts modules in place.
"""

import os
import runpy
import sys
from pathlib import Path

if os.environ.get("TPULINT_RECIPE"):
    _here = Path(__file__).parent
    sys.path.insert(0, str(_here))
    import libraries
    import pictures

    libraries.install()
    pictures.install()
    _own = _here / "scripts" / f"{os.environ['TPULINT_RECIPE']}.py"
    if _own.exists():
        runpy.run_path(str(_own))
    for _name in ("libraries", "modules", "pictures", "games", "ratings"):
        sys.modules.pop(_name, None)  # the script may have files of these names
    sys.path[:] = [path for path in sys.path if Path(path or ".").resolve() != _here.resolve()]
