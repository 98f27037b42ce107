"""Lets the test modules of this folder import ``harness``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
