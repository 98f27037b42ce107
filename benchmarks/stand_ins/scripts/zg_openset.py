"""What is written down needs a folder."""

import sys
from pathlib import Path

import made_up_data  # noqa: F401
import modules


def _change(_):
    module = sys.modules["torch.utils.tensorboard"]
    before = module.SummaryWriter

    class Writer(before):
        def __init__(self, path):
            Path(path).mkdir(parents=True, exist_ok=True)

    module.SummaryWriter = Writer


modules.when_imported("torch", _change)
