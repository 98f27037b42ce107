"""Choices between two ways that are the same once fixes have rewritten both."""

from __future__ import annotations

import pytest
from ported_bodies import port


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("return x.cuda() if args.gpu is None else x.cuda(args.gpu)\n", "return x.to(d)\n"),
        ("return (x.cuda() if args.gpu is None else x.cuda(args.gpu)).t()\n", "return x.to(d).t()\n"),
        ("return [(x.cuda() if args.gpu else x.cuda(0)), 1]\n", "return [x.to(d), 1]\n"),
        ("return print (x.cuda() if args.gpu else x.cuda(0))\n", "return print (x.to(d))\n"),
        ("return print(a=(x.cuda() if args.gpu else x.cuda(0)))\n", "return print(a=(x.to(d)))\n"),
        ("return -(x.cuda() + 1 if args.gpu else x.cuda(0) + 1)\n", "return -(x.to(d) + 1)\n"),
        ("return x.cuda() if args.gpu else x.cuda(0) if args.all else x.cuda(args.gpu)\n", "return x.to(d)\n"),
        ("if args.gpu:\n    x = x.cuda(args.gpu)\nelse:\n    x = x.cuda()\nreturn x\n", "x = x.to(d)\nreturn x\n"),
        (
            "if args.gpu is not None:\n    # the one that is wanted\n    x = x.cuda(args.gpu)  # moved\n"
            "else:\n    x = x.cuda()\nreturn x\n",
            "# the one that is wanted\nx = x.to(d)  # moved\nreturn x\n",
        ),
        (
            "number = args.gpu\nif number is None:\n    x = x.cuda()\nelse:\n    x = x.cuda(number)\nreturn x\n",
            "x = x.to(d)\nreturn x\n",
        ),
    ],
)
def test_one_way_is_left(body: str, left: str) -> None:
    assert port(body) == left


@pytest.mark.parametrize(
    "body",
    [
        "return x.cuda() if find(args) else x.cuda(0)\n",  # does something
        "return x.cuda() if args.gpus[0] else x.cuda(0)\n",  # may raise
        "return x.cuda() if args.gpu is None else x.float().cuda()\n",
        "return x.cuda() if args.gpu is None else x\n",
        "if args.gpu is None:\n    x = x.cuda()\nelse:  # the one that is wanted\n    x = x.cuda(args.gpu)\nreturn x\n",
        "if args.gpu is None:\n    x = x.cuda()\nelse:\n    x = x.cuda(args.gpu)  # the wanted one\nreturn x\n",
        "if args.gpu is None:  # any\n    x = x.cuda()\nelse:\n    x = x.cuda(args.gpu)\nreturn x\n",
        "if args.gpu:\n    x = x.cuda()\nelif args.all:\n    y = 1\nelse:\n    x = x.cuda(args.gpu)\nreturn x\n",
    ],
)
def test_choices_that_stay(body: str) -> None:
    ported = port(body)
    assert "cuda" not in ported and "else" in ported


def test_what_its_author_wrote_alike_stays() -> None:
    body = "if args.gpu is None:\n    y = 1\nelse:\n    y = 1\nz = 1 if args.gpu else 1\nreturn x.cuda(), y, z\n"
    assert port(body) == body.replace("x.cuda()", "x.to(d)")
