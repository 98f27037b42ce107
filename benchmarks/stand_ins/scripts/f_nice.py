"""The last line of the loop names a variable that the script does not have."""

import builtins

builtins.epoch = 1  # type: ignore[attr-defined]
