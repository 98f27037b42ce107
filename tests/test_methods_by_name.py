"""Methods of a model that `forward` chooses by a name: `getattr(self, "_" + mode)(x)`."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

BASE = """\
from torch import nn

class Named(nn.Module):
    def forward(self, *args, **kwargs):
        mode = kwargs.pop("mode", "train")
        return {chosen}(*args, **kwargs)
"""
NET = """\
from torch import nn

class Net({base}):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 2)

    def _train(self, x):
        y = self.linear(x)
        if y.sum() == 0:{mark}
            y = y + 1
        return y

    def _limit_of(self, x):
        if self.linear(x).sum() == 0:
            return 0
        return 1

    def limit(self, x):
        return self._limit_of(x)
"""
TRAIN = """\
net = Net().cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x in loader:
    loss = net(x.cuda()).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("chosen", "is_known"),
    [
        ('getattr(self, "_" + mode)', True),
        ('getattr(self, f"_{mode}")', True),
        ('getattr(self, "_%s" % mode)', True),
        ('getattr(self, "_{}".format(mode))', True),
        ('(self._train if mode == "train" else self._sample)', False),  # the base class has neither
        ("getattr(self, mode)", False),
        ('getattr(args[0], "_" + mode)', False),
    ],
)
@pytest.mark.parametrize("is_elsewhere", [False, True])
def test_methods_of_derived_classes(tmp_path: Path, chosen: str, is_known: bool, is_elsewhere: bool) -> None:
    """What is called by its name in the file, as `_limit_of` is, needs no other way to run."""
    base, net = BASE.format(chosen=chosen), NET.format(base="Named", mark="  # TPU103" if is_known else "")
    if is_elsewhere:
        files = {
            "base": base,
            "net": "from base import Named\n" + net,
            "main": "import torch\nfrom net import Net\n" + TRAIN,
        }
    else:
        files = {"main": "import torch\n" + base + net + TRAIN}
    agree(tmp_path, "TPU103", **files)


@pytest.mark.parametrize(
    "chosen", ['getattr(self, "_" + mode)', 'getattr(self, f"{mode}_loss")', "(self._train if x else self.my_loss)"]
)
def test_methods_of_the_class_itself(tmp_path: Path, chosen: str) -> None:
    program = f"""\
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 2)

        def forward(self, x, mode="train"):
            return {chosen}(x)

        def _train(self, x):
            y = self.linear(x)
            return y if y.sum() > 0 else y + 1{"  # TPU103" if "_train" in chosen or '"_"' in chosen else ""}

        def my_loss(self, x):
            y = self.linear(x)
            return y if y.sum() > 0 else y + 1{"  # TPU103" if "loss" in chosen else ""}

        def other(self, x):
            y = self.linear(x)
            return y if y.sum() > 0 else y + 1

    """
    agree(tmp_path, "TPU103", main=program + "".join(f"    {line}\n" for line in TRAIN.splitlines()))


@pytest.mark.parametrize(
    ("given", "runs"),
    [
        ("x.cuda()", ["train"]),
        ('x.cuda(), mode="sample"', ["sample"]),
        ("x.cuda(), mode=mode", ["train", "sample", "old_sample"]),
        ("x.cuda(), **options", ["train", "sample", "old_sample"]),
    ],
)
@pytest.mark.parametrize("takes", ["parameter", "dictionary"])
def test_the_name_that_a_call_gives(tmp_path: Path, given: str, runs: list[str], takes: str) -> None:
    """Of what `forward` may choose by a name, a call that gives the name runs one."""
    forward = BASE.format(chosen='getattr(self, "_" + mode)')
    if takes == "parameter":
        forward = forward.replace("*args, **kwargs):", 'x, mode="train"):').replace("*args, **kwargs)", "x)")
        forward = forward.replace('        mode = kwargs.pop("mode", "train")\n', "")
    bodies = "".join(
        f"""
    def _{name}(self, x):
        y = self.linear(x)
        return y if y.sum() > 0 else y + 1{"  # TPU103" if name in runs else ""}
"""
        for name in ("train", "sample", "old_sample")
    )
    head = "from torch import nn\nfrom base import Named\n\nclass Net(Named):\n    def __init__(self):\n"
    net = head + "        super().__init__()\n        self.linear = nn.Linear(4, 2)\n" + bodies
    main = "import torch\nfrom net import Net\n" + TRAIN.replace("net(x.cuda())", f"net({given})")
    agree(tmp_path, "TPU103", base=forward, net=net, main=main)


@pytest.mark.parametrize(
    ("made", "is_run"),
    [
        ("Net()", False),
        ('Net("fast")', False),
        ('Net(mode="slow")', True),
        ("Net(mode)", True),
        ("Net(**options)", True),
        ('Net() if kind else Net("slow")', True),
    ],
)
def test_the_name_that_an_object_keeps(tmp_path: Path, made: str, is_run: bool) -> None:
    """Where all objects are made with one name, the methods of other names are not run."""
    program = f"""\
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self, mode="fast"):
            super().__init__()
            self.linear, self.kind = nn.Linear(4, 2), 3
            self.mode = mode

        def forward(self, x):
            return getattr(self, f"_run_{{self.mode}}")(x)

        def _run_fast(self, x):
            return self.linear(x)

        def _run_slow(self, x):
            y = self.linear(x)
            return y if y.sum() > 0 else y + 1{"  # TPU103" if is_run else ""}

    """
    lines = TRAIN.replace("Net().cuda()", f"({made}).cuda()").splitlines()
    agree(tmp_path, "TPU103", main=program + "".join(f"    {line}\n" for line in lines))
