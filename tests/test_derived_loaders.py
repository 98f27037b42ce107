"""Loaders of classes of the project, which hand on what they are given."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree
from test_host_sync_rules import port

TRAINING = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("xla")
model = nn.Linear(4, 4).to(device)
optimizer = torch.optim.Adam(model.parameters())


def train(loader):
    for x in loader:
        loss = model(x[0].to(device)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


"""
HANDS_ON = """\
class TextLoader(DataLoader):
    def __init__(self, pad, *args, size=3, **kwargs):
        {before}
        super().__init__(*args, {given}**kwargs)
        self.pad = pad{behind}


"""
CALL = "TextLoader(0, data, shuffle=True, batch_size=8)"


def _written(call: str, before: str = "size += 1", given: str = "", behind: str = "") -> str:
    return TRAINING + HANDS_ON.format(before=before, given=given, behind=behind) + f"train({call})\n"


def _said(text: str) -> list[str]:
    result = port(text, select=("TPU501",))
    return [finding.code for finding in result.findings] + result.text.splitlines()[-1:]


@pytest.mark.parametrize(
    ("text", "last"),
    [
        (_written(CALL), "TextLoader(0, data, shuffle=True, batch_size=8, drop_last=True)"),
        (_written("TextLoader(0, data, 8, True)"), "TextLoader(0, data, 8, True, drop_last=True)"),
        (
            _written(CALL, given="collate_fn=self.put, ", behind="\n\n    def put(self, batch):\n        return batch"),
            "TextLoader(0, data, shuffle=True, batch_size=8, drop_last=True)",
        ),
        (
            TRAINING + f"class TextLoader(DataLoader):\n    pad = 0\n\n\ntrain({CALL.replace('0, ', '')})\n",
            "TextLoader(data, shuffle=True, batch_size=8, drop_last=True)",
        ),
    ],
    ids=["by name", "by position", "with a function", "no __init__"],
)
def test_the_last_batch_of_a_class_that_hands_on(text: str, last: str) -> None:
    assert _said(text) == [f"train({last})"]


@pytest.mark.parametrize(
    "text",
    [
        _written(CALL, given="drop_last=True, "),
        _written(CALL, given="drop_last=size > 2, "),
        _written(CALL, given="batch_sampler=Places(size), "),
        _written(CALL, before="kwargs.setdefault('drop_last', True)"),
        _written(CALL, behind="\n\n    def __iter__(self):\n        return fill(super().__iter__())"),
        _written(CALL).replace("(DataLoader)", "(DataLoader, Endless)"),
        _written(CALL).replace("**kwargs)\n        self", "batch_size=8)\n        self"),
        _written(CALL.replace(")", ", drop_last=True)")),
        _written(CALL.replace("batch_size=8", "batch_sampler=Places(8)")),
        _written("TextLoader(0, data, 1, True)"),
        _written("TextLoader(0, *everything)"),
    ],
)
def test_classes_of_which_the_last_batch_is_not_known(text: str) -> None:
    assert _said(text) == [text.splitlines()[-1]]


KNOWS_ALL = """\
class TextLoader(DataLoader):
    def __init__(self, data, batch_size=1, shuffle=False, start=0{more}):
        self.start = start
        super().__init__(data, batch_size=batch_size, shuffle=shuffle{handed})


"""


@pytest.mark.parametrize(
    ("more", "handed", "codes", "last"),
    [
        ("", "", ["TPU501"], "data, batch_size=8, shuffle=True"),  # its call cannot say it
        ("", ", drop_last=True", [], "data, batch_size=8, shuffle=True"),
        (", drop_last=True", ", drop_last=drop_last", [], "data, batch_size=8, shuffle=True"),
        (", drop_last=False", ", drop_last=drop_last", [], "data, batch_size=8, shuffle=True, drop_last=True"),
    ],
)
def test_classes_that_name_all_that_they_hand_on(more: str, handed: str, codes: list[str], last: str) -> None:
    made = KNOWS_ALL.format(more=more, handed=handed)
    text = TRAINING + made + "train(TextLoader(data, batch_size=8, shuffle=True))\n"
    assert _said(text) == [*codes, f"train(TextLoader({last}))"]


def test_what_shuffles_is_not_told_by_its_place() -> None:
    """The third argument of the class is no ``shuffle``."""
    text = _written(CALL).replace(f"train({CALL})", "def start(count):\n    train(TextLoader(0, data, count, True))\n")
    assert "    train(TextLoader(0, data, count, True, drop_last=True))" in port(text, select=("TPU501",)).text


def test_classes_of_other_files(tmp_path: Path) -> None:
    loaders = """\
        from torch.utils.data import DataLoader

        class TextLoader(DataLoader):
            def __init__(self, words, batch_size=8, train=True, **kwargs):
                self.words = words
                super().__init__(words, batch_size=batch_size, shuffle=train, collate_fn=self.put, **kwargs)

        class FullLoader(DataLoader):
            def __init__(self, words, batch_size=8, train=True, **kwargs):
                super().__init__(words, batch_size=batch_size, drop_last=bool(train), **kwargs)
    """
    main = """\
        from loaders import FullLoader, TextLoader
        import torch

        device = torch.device("xla")
        model = torch.nn.Linear(4, 4).to(device)
        optimizer = torch.optim.Adam(model.parameters())

        def run(loader):
            for x in loader:
                loss = model(x.to(device)).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()

        def check(loader):
            model.eval()
            with torch.no_grad():
                for x in loader:
                    model(x.to(device))

        run(TextLoader(words))  # TPU501
        run(FullLoader(words))
        run(TextLoader(words, drop_last=True))
        run(TextLoader(words, 1))
        check(TextLoader(words, train=False))  # TPU516
        check(FullLoader(words, train=False))
    """
    agree(tmp_path, "TPU501,TPU516", loaders=loaders, main=main)


CHOSEN = """\
class Endless(BASE):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)

    def __iter__(self):
        for _ in range(len(self)):
            yield next(self.iterator)


def make(samples, weighted):
    kind = DataLoader if weighted else OTHER
    return kind(samples, batch_size=8, shuffle=True)MARK


"""


@pytest.mark.parametrize(
    ("base", "other", "is_told"),
    [
        ("DataLoader", "Endless", True),
        ("DataLoader", "DataLoader", True),
        ("object", "Endless", False),
        ("DataLoader", "settings.kind", False),
    ],
)
def test_a_loader_whose_class_a_condition_chooses(tmp_path: Path, base: str, other: str, is_told: bool) -> None:
    text = CHOSEN.replace("BASE", base).replace("OTHER", other).replace("MARK", "  # TPU501" if is_told else "")
    text = TRAINING + text + "train(make(data, weighted))\n"
    agree(tmp_path, "TPU501", main=text)
    ported = port(text, select=("TPU501",)).text
    assert ("kind(samples, batch_size=8, shuffle=True, drop_last=True)" in ported) is is_told
