"""``python -m tpulint``."""

from __future__ import annotations

from tpulint.cli import main

main()
