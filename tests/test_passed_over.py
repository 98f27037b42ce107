"""Code that turns do not come to: what ends the program or the loop, messages of assertions, and what stands behind.

Lines of which something must be said are marked with the code of the rule; no other line may be named.
"""

from __future__ import annotations

from pathlib import Path

from command import tpulint
from marked_files import agree

READS = "TPU101,TPU102,TPU103,TPU302"

TRAINING = """\
import os
import sys
import torch
import torch_xla

debug = False
verbose = False
device = torch.device("xla")
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def checked(a):
    if a.shape[1] != 4:
        print(a)
        raise IndexError
    if a.shape[0] != 4:
        print(a)  # TPU102
        return a
    for row in range(4):
        if row == 3:
            print(a.sum().item())  # TPU101
            break
    return a


for x in loader:
    y = checked(model(x.to(device)))
    assert y.shape[0] == 4, f"bad {y}"
    assert (y > 0).all(), "bad"  # TPU103
    if y.dim() != 2:
        raise ValueError("bad {}".format(y))
    if y.sum() > 3:  # TPU103
        print(y)
        sys.exit(1)
    elif y.shape[1] == 7:
        print(y)
        assert False
    if False:
        print(y)
    if debug:
        print(y)
    else:
        print(y.sum().item())  # TPU101
    if verbose:
        print(y.mean().item())  # TPU101
    try:
        loss = y.mean()
    except Exception as e:
        print(e, y)
        os._exit(1)
    except ValueError:
        print(y)  # TPU102
    if y.shape[1] == 9:
        print(y)
        break
    if y.shape[1] == 8:
        print(y)  # TPU102
        continue
    if y.shape[1] == 7:
        with open("log") as log:
            print(y)
        exit()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
    verbose = True
"""


def test_blocks_that_end_the_program_or_the_loop(tmp_path: Path) -> None:
    agree(tmp_path, READS, main=TRAINING)


EVALUATION = """\
import torch

device = torch.device("xla")
model = torch.nn.Linear(4, 4).to(device)


def shown(loader):
    model.eval()
    with torch.no_grad():
        for x, y in loader:
            out = model(x.to(device))
            print(out.mean().item())
            break


def shown_but_for_some(loader):
    model.eval()
    with torch.no_grad():
        for x, y in loader:  # TPU302
            out = model(x.to(device))
            if y.sum() == 0:
                continue
            print(out.mean().item())  # TPU101
            break


def left_out(loader):
    return
    with torch.no_grad():
        for x, y in loader:
            print(model(x.to(device)).argmax(1).eq(y.to(device)).sum().item())


def left_out_in_part(loader, wanted):
    with torch.no_grad():
        for x, y in loader:  # TPU302
            out = model(x.to(device))
            print(out.sum().item())  # TPU101
            continue
            print(out.mean().item())


def generated(loader):
    with torch.no_grad():
        for x, y in loader:  # TPU302
            print(model(x.to(device)).mean().item())  # TPU101
    return
    yield


shown(loader)
shown_but_for_some(loader)
left_out(loader)
left_out_in_part(loader, 3)
"""


def test_loops_of_one_turn_and_code_that_never_runs(tmp_path: Path) -> None:
    agree(tmp_path, READS, main=EVALUATION)


def test_blocks_that_are_unwrapped_around_what_never_runs(tmp_path: Path) -> None:
    path = tmp_path / "main.py"
    path.write_text(
        "import torch\n\n"
        "def predict(model, x):\n"
        "    with torch.cuda.device(0):\n"
        "        y = model(x.cuda())\n"
        "        return y\n"
        "        print(y.item())\n\n"
        'predict(torch.nn.Linear(4, 4).to("cuda"), torch.zeros(1, 4))\n'
    )
    tpulint("--fix", "--unsafe-fixes", "main.py", cwd=tmp_path)
    assert "\n    return y\n    print(y.item())\n" in path.read_text()


FLAGS = """\
import torch

device = torch.device("xla")


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 2)

    def always(self, x, train):
        if train:
            return self.layer(x).mean()
        return self.layer(x).sum().item()

    def never(self, x, report=False):
        if not report:
            return self.layer(x).mean()
        return self.layer(x).sum().item()

    def both(self, x, train):
        if train:
            return self.layer(x).mean()
        return self.layer(x).sum().item()  # TPU101

    def unknown(self, x, train):
        if train:
            return self.layer(x).mean()
        return self.layer(x).sum().item()  # TPU101

    def handed(self, x, train):
        if train:
            return self.layer(x).mean()
        return self.layer(x).sum().item()  # TPU101


net = Net().to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x in loader:
    x = x.to(device)
    loss = net.always(x, train=True) + net.never(x, report=False) + net.both(x, True) + net.unknown(x, True)
    loss = loss + net.always(x, True) + net.never(x) + net.handed(x, True)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
print(net.both(x, False), make().unknown(x, False))
note(net.handed)
"""


def test_branches_of_flags_that_all_calls_give(tmp_path: Path) -> None:
    agree(tmp_path, READS, main=FLAGS)


def test_what_there_is_nothing_of_yet(tmp_path: Path) -> None:
    """`if kept is None:` holds in the first turn, unless each turn empties it anew."""
    program = """\
    import torch
    import torch_xla

    device = torch.device("xla")
    model = torch.nn.Linear(4, 4).to(device)


    def evaluate(loader, debug=False):
        show, wide = False, True
        shown = False
        kept, last, some = None, None, None
        model.eval()
        with torch.no_grad():
            for x in loader:
                y, first = model(x.to(device)), None
                torch_xla.sync()
                often = False
                if often:
                    print(y)
                if kept is None:
                    kept = y.cpu()
                if last is None:
                    print(y.cpu())  # TPU101
                if some is None:
                    some = y.cpu()
                if len(kept) > 8:
                    some = None
                if first is None:
                    first = y.min().item()  # TPU101
                if shown:
                    print(y)
                if show:
                    print(y)  # TPU102
                if shown and wide:
                    print(y)
                if shown or wide:
                    print(y)  # TPU102
        return kept, last, first
    """
    agree(tmp_path, READS, main=program)
