"""Models that a script makes beside the one it trains, and leaves on the host."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import SETUP, agree

PROGRAM = (
    SETUP
    + """
    def beside(x):
        small = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        out = small(x)
        if out.max() > 3:
            print("large")
        return out.sum().item()

    def given(net, x):
        return net(x).sum().item()

    def given_both(net, x):
        return net(x).sum().item(){both}

    def evaluate(net, batches):
        total = 0
        with torch.no_grad():
            for x, y in batches:{evaluated}
                total += net(x).sum()
        return total

    def move(net):
        net.{part}to(device)

    loader = torch.utils.data.DataLoader(samples, batch_size=8, drop_last=True)
    tiny = nn.Linear(4, 4)
    other = nn.Linear(4, 4)
    move(other)
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(model(x.to(device)), y.to(device)).backward()
        optimizer.step()
        print(beside(x), given(tiny, x), given_both(tiny, x), given_both(other, x))
        out = tiny(x)
        print(out.sum().item(), other(x).sum().item()){other}
    evaluate(tiny, loader)
    """
)


def test_models_that_stay_on_the_host(tmp_path: Path) -> None:
    marks = {"both": "  # TPU101", "evaluated": "", "other": "  # TPU101"}
    agree(tmp_path, "TPU101,TPU103,TPU302", main=PROGRAM.format(part="", **marks))
    agree(tmp_path, "TPU101,TPU103,TPU302", main=PROGRAM.format(part="weight.", **marks))


@pytest.mark.parametrize("given", ["other", "nn.Linear(4, 4).cuda()"])
def test_what_is_given_a_moved_model_may_run_it(tmp_path: Path, given: str) -> None:
    program = (
        SETUP
        + f"""
    class Wrapper(nn.Module):
        def __init__(self, net):
            super().__init__()
            self.net = net

        def forward(self, x):
            return self.net(x)

    other = nn.Linear(4, 4)
    other.cuda()
    wrapper = Wrapper({given})
    total = 0
    with torch.no_grad():
        for x in loader:  # TPU302
            total = total + wrapper(x).sum()
    """
    )
    agree(tmp_path, "TPU302", main=program)


def test_what_is_moved_with_its_batches(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    def evaluate(net, batches):
        total = 0
        with torch.no_grad():
            for x, y in batches:  # TPU302
                total += net(x.to(device)).sum()
        return total

    tiny = nn.Linear(4, 4)
    evaluate(tiny.cuda(), torch.utils.data.DataLoader(samples, batch_size=8, drop_last=True))
    """
    )
    agree(tmp_path, "TPU302", main=program)


def test_what_a_text_makes_may_be_moved_by_it(tmp_path: Path) -> None:
    program = (
        SETUP
        + """
    from moving import to_device

    def trained(state):
        with torch.no_grad():
            made = eval('nn.Linear(4, 4).to(device)')
            made.load_state_dict(state)
        return made

    def test(model, batches):
        total = 0
        model.train(False)
        with torch.no_grad():
            for x, y in batches:  # TPU302
                x = to_device(x, device)
                total += model(x).sum()
        return total

    loader = torch.utils.data.DataLoader(samples, batch_size=8, drop_last=True)
    ready = trained(weights)
    test(ready, loader)
    """
    )
    agree(tmp_path, "TPU302", main=program)
