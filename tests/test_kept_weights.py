"""Parameters of a module that an object keeps in a list, and goes through in every step."""

from __future__ import annotations

import pytest
from test_host_sync_rules import check

STEPPER = """
class Stepper:
    def __init__(self, model):
        self.model, self.sizes = model, [2, 3]
        self.weights = KEPT
        self.opt = torch.optim.SGD(self.weights, lr=0.1)

    def step(self, x, y):
        loss = nn.functional.mse_loss(self.model(x), y)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return self.norm()

    def norm(self):
        return [READ for p in self.weights]

stepper = Stepper(model)
for x, y in loader:
    stepper.step(x.cuda(), y.cuda())
"""


@pytest.mark.parametrize(
    ("kept", "read", "told"),
    [
        ("list(model.parameters())", "p.norm().item()", True),
        ("[p for p in model.parameters() if p.requires_grad]", "p.norm().item()", True),
        ("list(filter(lambda p: p.requires_grad, model.parameters()))", "p.norm().item()", True),
        ("list(model.parameters())", "p.shape", False),
        ("list(self.sizes)", "float(p)", False),
    ],
)
def test_weights_that_are_kept(kept: str, read: str, told: bool) -> None:
    assert bool(check(STEPPER.replace("KEPT", kept).replace("READ", read), ("TPU101", "TPU104"))) is told
