"""The command ``tpulint``, whose scripts are run by a Python that has imported torch before. To be run by its path."""

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).parent.parent)

import warm_python  # noqa: E402 - its folder must be on the import path

from tpulint.cli import main  # noqa: E402
from tpulint.verification import process  # noqa: E402

process.subprocess = warm_python.stand_in()  # type: ignore[attr-defined]
main()
