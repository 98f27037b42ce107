"""Modules that a function takes the wrapper off, of their own file or of another: ``unwrap(net).encode(x)``.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

SELECT = "TPU102,TPU104,TPU203,TPU301,TPU302"
UNWRAP = """
    from torch import nn

    def unwrap(model):
        if isinstance(model, nn.parallel.DistributedDataParallel):
            return model.module
        else:
            return model
"""
CONDITIONAL = """
    def unwrap(model):
        return model.module if hasattr(model, "module") else model
"""
LOOP = """
    def unwrap(model):
        inner = model
        while hasattr(inner, "module"):
            inner = inner.module
        return inner
"""
AGAIN = """
    def unwrap(model):
        if hasattr(model, "module"):
            return unwrap(model.module)
        return model
"""
ASKED = """
    def unwrap(model):
        return getattr(model, "module", model)
"""
EVALUATION = """
    import torch
    from torch import nn
    import parallel
    from data import loader

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def encode(self, x):
            return self.layer(x)

        def forward(self, x):
            return self.encode(x)

    device = torch.device("cuda")
    net = Net().to(device)

    def validate(net):
        net.eval()
        right = 0
        with torch.no_grad():
            for x, y in loader:  # TPU302
                output = CALL
                right += (output.argmax(1) == y.to(device)).sum().item()  # TPU104
                print(right)
        return right

    validate(net)
"""
DATA = """
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    loader = DataLoader(TensorDataset(torch.randn(64, 4), torch.randint(0, 2, (64,))), batch_size=8, drop_last=True)
"""
BY_METHOD, BY_CALL = "parallel.unwrap(net).encode(x.to(device))", "parallel.unwrap(net)(x.to(device))"


@pytest.mark.parametrize("way, call", [(UNWRAP, BY_METHOD), (CONDITIONAL, BY_CALL), (LOOP, BY_METHOD)])
def test_evaluations_of_unwrapped_models_are_seen(tmp_path: Path, way: str, call: str) -> None:
    agree(tmp_path, SELECT, parallel=way, data=DATA, evaluate=EVALUATION.replace("CALL", call))


def test_another_module_that_a_wrapper_holds_is_none(tmp_path: Path) -> None:
    teacher = """
        def unwrap(model):
            return model.teacher if hasattr(model, "module") else model
    """
    silent = EVALUATION.replace("CALL", BY_CALL).replace("  # TPU302", "").replace("  # TPU104", "")
    agree(tmp_path, SELECT, parallel=teacher, data=DATA, evaluate=silent)


TRAINING = """
    import torch
    from parallel import unwrap
    from data import loader
    from nets import Net

    device = torch.device("cuda")
    net = Net().to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:  # TPU301
        loss = unwrap(net).loss(x.to(device), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
NETS = """
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def loss(self, x, y):
            print(y[y > 0].sum())  # TPU102 TPU203
            return self.layer(x).square().mean()
"""


@pytest.mark.parametrize("way", [UNWRAP, AGAIN, ASKED])
def test_methods_of_unwrapped_models_run_in_every_step(tmp_path: Path, way: str) -> None:
    agree(tmp_path, SELECT, parallel=way, data=DATA, nets=NETS, train=TRAINING)
