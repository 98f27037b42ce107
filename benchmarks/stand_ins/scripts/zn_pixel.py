"""A writer of summaries that makes its folder, as the real one does."""

from pathlib import Path

import libraries
import made_up_data  # noqa: F401
import modules


class _Writer(libraries.Writer):
    def __init__(self, logdir=None, log_dir=None, **_):
        Path(logdir or log_dir).mkdir(parents=True, exist_ok=True)


modules.put("tensorboardX", SummaryWriter=_Writer)
