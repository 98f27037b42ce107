"""A teacher and a student that were trained before, as far as it matters: networks with random weights."""

import sys
from pathlib import Path

import made_up_data  # noqa: F401
import modules


def _save(torch):
    sys.path.insert(0, ".")
    from models.wresnet import WideResNet

    for one in ("s", "t"):
        Path(f"weight/{one}_net").mkdir(parents=True, exist_ok=True)
        network = WideResNet(depth=16, num_classes=10, widen_factor=1, dropRate=0)
        torch.save(
            {"state_dict": network.state_dict(), "epoch": 1, "best_clean_acc": 50.0},
            f"weight/{one}_net/WRN-16-1-{one.upper()}-model_best.pth.tar",
        )
    Path("results").mkdir(exist_ok=True)
    Path("weight/erasing_net").mkdir(exist_ok=True)


modules.when_imported("torchvision", lambda _: _save(__import__("torch")))
