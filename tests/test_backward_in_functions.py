"""Backward passes in functions that are given the loss, by their own name or as a partial.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

PROGRAM = """\
    import torch
    from functools import partial

    def go_back(scale, loss, **options):
        {pass_}

    class Trainer:
        def __init__(self, nets):
            self.nets = nets
            self.device = torch.device("cuda")

        def step(self, x):  # TPU301
            {made}
            loss = self.nets.critic(x.to(self.device)).mean()
            self.nets.optimizer.zero_grad()
            {run}
            self.nets.optimizer.step()
            return loss.item(){mark}
    """


@pytest.mark.parametrize(
    ("made", "run"),
    [
        ("pass", "go_back(2, loss)"),
        ("back = partial(go_back, 2)", "back(loss)"),
        ("back = partial(go_back, 2)", "back(loss=loss, retain_graph=True)"),
        ("back = partial(go_back, scale=2)", "back(loss=2 * loss)"),
    ],
)
def test_a_loss_that_a_function_is_given(tmp_path: Path, made: str, run: str) -> None:
    told = PROGRAM.format(pass_="loss.backward(**options)", made=made, run=run, mark="  # TPU101")
    agree(tmp_path, "TPU101,TPU301", main=told)
    quiet = PROGRAM.format(pass_="print(scale)", made=made, run=run, mark="").replace("  # TPU301", "")
    agree(tmp_path, "TPU101,TPU301", main=quiet)


def test_a_function_that_is_given_the_loss_of_others(tmp_path: Path) -> None:
    program = """\
    import torch
    from functools import partial

    def go_back(scale, loss):
        loss.backward()

    class Scaler:
        def __init__(self, optimizers):
            self.optimizers = optimizers
            self.device = torch.device("cuda")

        def __call__(self, loss):
            back = partial(go_back, 2)
            back(loss)
            self.optimizers.first.step()
    """
    agree(tmp_path, "TPU101,TPU301", main=program)
