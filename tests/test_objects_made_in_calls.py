"""Methods of objects that no variable holds: ``Solver(func, y0).integrate(t_end)``."""

from __future__ import annotations

from pathlib import Path

from marked_files import agree

SOLVER = """\
import torch


class Solver:
    def __init__(self, func, y0, tol=1e-3):
        self.func, self.y, self.tol = func, y0, tol
        self.t = torch.zeros((), device=y0.device)
        self.dt = torch.full((), 0.3, device=y0.device)

    def step(self):
        found = self.y + self.dt * self.func(self.t, self.y)
        ratio = (found - self.y).abs().max() / self.tol
        accepted = ratio <= 1
        if accepted:  # TPU103
            self.y, self.t = found, self.t + self.dt
        self.dt = self.dt * (0.9 / ratio.sqrt()).clamp(0.3, 3.0)

    def integrate(self, t_end):
        while t_end > self.t:  # TPU103
            self.step()
        return self.y

    def never(self):
        if self.t > 3:
            return self.y


def odeint(func, y0, t_end):
    return Solver(func, y0).integrate(t_end)
"""


def test_a_solver_that_chooses_its_steps_by_tensors_of_the_device(tmp_path: Path) -> None:
    program = """\
    import torch
    from torch import nn
    from solver import odeint

    device = torch.device("cuda")

    class Field(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(2, 2)

        def forward(self, t, y):
            return self.net(y)

    func = Field().to(device)
    optimizer = torch.optim.Adam(func.parameters())
    t_end = torch.tensor(1.0).to(device)
    for turn in range(6):
        optimizer.zero_grad()
        y0 = torch.randn(8, 2).to(device)
        loss = (odeint(func, y0, t_end) - y0.flip(1)).abs().mean()
        loss.backward()
        optimizer.step()
    """
    agree(tmp_path, "TPU103", main=program, solver=SOLVER)


def test_a_step_by_an_object_that_is_made_for_it(tmp_path: Path) -> None:
    program = """\
    import torch
    from torch import nn

    device = torch.device("cuda")
    model = nn.Linear(4, 1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    class Step:
        def __init__(self, x):
            self.x = x

        def run(self):
            optimizer.zero_grad()
            model(self.x.to(device)).mean().backward()
            optimizer.step()

    for x in batches:  # TPU301
        Step(x).run()
    """
    agree(tmp_path, "TPU301", main=program)
