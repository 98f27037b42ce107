"""Places that are the labels of samples, gone through one by one: each is read, and a graph of its own."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from marked_files import SETUP, agree

STEP = """\
    def assign(prototypes, features, labels, groups):
        {loop}
            prototypes[{place}] = prototypes[{place}] * 0.9 + 0.1 * feature{mark}

    prototypes = torch.zeros(5, 4, device=device)
    for x, labels, groups in loader:
        x, labels, groups = x.to(device), labels.to(device), groups.to(device)
        features = model(x)
        optimizer.zero_grad()
        F.cross_entropy(features, labels).backward()
        optimizer.step()
        assign(prototypes, features.detach(), labels, groups)
    """


@pytest.mark.parametrize(
    ("loop", "place", "is_told"),
    [
        ("for feature, label in zip(features, labels):", "label", True),
        ("for feature, one in zip(features, labels):", "one", True),
        ("for feature, target in zip(features, groups):", "target", True),
        ("for feature, group in zip(features, groups):", "group", False),  # it may be a row of places
        ("for feature, label in zip(features, labels.tolist()):", "label", False),
        ("for feature, label in zip(features, labels[:, None]):", "label", False),
        ("for feature, labels in groups:", "labels", False),
        ("for feature, label in zip([features], [labels]):", "label", False),
        ("for feature in [features]:", "labels", False),
    ],
)
def test_labels_that_a_loop_goes_through(tmp_path: Path, loop: str, place: str, is_told: bool) -> None:
    mark = "  # TPU201" if is_told else ""
    agree(tmp_path, "TPU201", train=dedent(SETUP) + dedent(STEP).format(loop=loop, place=place, mark=mark))


TAKEN = """\
    for x, labels in loader:
        x, labels = x.to(device), labels.to(device)
        features = model(x)
        optimizer.zero_grad()
        F.cross_entropy(features, labels).backward()
        optimizer.step()
        for i in {numbers}:
            {taken}
            prototypes[{place}] += features[i].detach(){mark}
    """


@pytest.mark.parametrize(
    ("numbers", "taken", "place", "is_told"),
    [
        ("range(len(labels))", "label = labels[i]", "label", True),
        ("range(x.size(0))", "pass", "labels[i]", True),
        ("range(batch_size)", "pass", "labels[i]", True),
        ("range(20)", "pass", "labels[i]", False),  # it may go along sequences
        ("range(len(labels))", "label = labels[i:]", "label", False),
        ("range(len(labels))", "label = labels[i].item()", "x[i]", False),
        ("range(len(labels))", "label = labels[i][None]", "label", False),
    ],
)
def test_labels_that_a_loop_takes_by_number(
    tmp_path: Path, numbers: str, taken: str, place: str, is_told: bool
) -> None:
    mark = "  # TPU201" if is_told else ""
    start = "prototypes = torch.zeros(5, 4, device=device)\n"
    text = dedent(TAKEN).format(numbers=numbers, taken=taken, place=place, mark=mark)
    agree(tmp_path, "TPU201", train=dedent(SETUP) + start + text)


def test_labels_by_which_nothing_is_written(tmp_path: Path) -> None:
    text = dedent(SETUP) + dedent(STEP).format(
        loop="for feature, label in zip(features, labels):", place="label", mark=""
    )
    read = text.replace("prototypes[label] = prototypes[label] * 0.9 + 0.1 * feature", "kept = prototypes[label]")
    agree(tmp_path, "TPU201", train=read)
