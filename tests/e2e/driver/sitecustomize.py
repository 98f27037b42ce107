"""Python imports this at start-up when this folder is first on PYTHONPATH; it prepares one measured run.

Nothing happens unless TPULINT_RUN_MODE is set, and the script under test is never edited: everything is
patched from the outside. ``reference`` runs the original with the name "cuda" aliased to the CPU; ``ported``
runs the linter's output with nothing aliased; ``host`` does that where torch_xla is not installed.
"""

import os
import sys

MODE = os.environ.get("TPULINT_RUN_MODE")
IS_TRACKER = any("_tracker" in argument for argument in sys.orig_argv)
"""multiprocessing's resource tracker is a Python process of its own; torch has no business there."""

if MODE in ("reference", "ported", "host") and not IS_TRACKER:
    if MODE == "host":
        import hidden_xla

        hidden_xla.install()
    import comparable_randomness
    import recorder

    comparable_randomness.install(drop_last=os.environ.get("TPULINT_RUN_DROP_LAST") == "1")
    recorder.install(os.environ["TPULINT_RUN_RECORDS"])
    if MODE == "reference":
        import cuda_alias

        cuda_alias.install()
