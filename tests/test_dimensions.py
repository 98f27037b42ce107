"""How many dimensions tensors have: what makes them tells, and where nothing tells nothing is said."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from tpulint.semantic import SemanticIndex
from tpulint.source import SourceFile


def dimensions(text: str, expression: str) -> int | None:
    """Of an expression at the end of a file."""
    source = SourceFile.from_text(f"{dedent(text)}\n({expression})\n")
    module = ast.parse(source.text)
    last = module.body[-1]
    assert isinstance(last, ast.Expr)
    return SemanticIndex(source, module).dimensions.of(last.value)


def test_an_element_that_is_made_a_number_elsewhere() -> None:
    text = """\
        import torch

        def shifted(x, places, others):
            rows = [x[:, places[i]] for i in range(3)]
            return [torch.roll(row, int(places[i])) for i, row in enumerate(rows)], others[i]
    """
    source = SourceFile.from_text(dedent(text))
    index = SemanticIndex(source, ast.parse(source.text))
    found = {index.text(node): index.dimensions.of(node) for node in ast.walk(index.tree.module)
             if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Name)}  # fmt: skip
    assert found == {"places[i]": 0, "others[i]": None}


MADE = """\
    import torch
    import torch.nn.functional as F

    flat, matrix, cube = torch.arange(4), torch.zeros(2, 3), torch.randn((2, 3, 4))
    one = torch.tensor(3)
    words = [[1, 2], [3, 4]]

    def rows(x):
        return x.sum(1), x.max(1)
"""


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("torch.tensor([1, 2])", 1),
        ("torch.tensor(words)", 2),
        ("torch.LongTensor([[0] * 4 for w in words])", 2),
        ("torch.LongTensor(4)", 1),
        ("torch.tensor(4)", 0),
        ("torch.full((2, 3), 0.0)", 2),
        ("torch.randint(0, 4, (2,))", 1),
        ("torch.zeros_like(cube)", 3),
        ("given().permute(0, 2, 3, 1)", 4),
        ("torch.fft.irfft(given().permute((0, 2, 1)).conj(), dim=-1)", 3),
        ("given().permute(order)", None),
        ("cube[0]", 2),
        ("cube[:, 1:, 0]", 2),
        ("cube[None, ..., 0]", 3),
        ("cube[flat]", 3),
        ("cube[0, flat, flat]", 1),
        ("matrix[:, [0, 1]]", 2),
        ("cube[:, range(cube.size(1))[1:3]]", 3),
        ("cube[:, torch.arange(1, min(3, cube.size(1)))]", 3),
        ("flat[-1] + 1", 0),
        ("matrix + cube", 3),
        ("flat == 2", 1),
        ("matrix.view(-1)", 1),
        ("matrix.view(1, -1, 3)", 3),
        ("matrix.flatten().long().to('cuda')", 1),
        ("matrix.sum()", 0),
        ("cube.sum((0, 1))", 1),
        ("cube.mean(1, keepdim=True)", 3),
        ("matrix.argmax(1)", 1),
        ("matrix.norm(2)", 0),
        ("matrix.max(1)[1]", 1),
        ("matrix.max(1).indices[0]", 0),
        ("torch.max(matrix, matrix)", 2),
        ("cube.split(2)[0]", 3),
        ("torch.cat([flat, torch.tensor([1])])", 1),
        ("torch.stack([flat, flat])", 2),
        ("flat.unsqueeze(0)", 2),
        ("torch.unique(matrix)", 1),
        ("matrix.nonzero()", 2),
        ("rows(cube)[0]", None),  # of a tuple, not of a tensor
        ("torch.zeros(*words)", None),
        ("torch.zeros(words)", None),
        ("cube.view(cube.size())", None),
        ("cube.squeeze()", None),
        ("cube[matrix > 0]", None),
        ("unseen.sum(1)", None),
        ("torch.tensor([unseen])", None),
        ("matrix.std(unseen)", None),
        ("matrix.mean(**unseen)", None),
    ],
)  # fmt: skip
def test_dimensions(expression: str, expected: int | None) -> None:
    assert dimensions(MADE, expression) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for item in flat: pass", 0),
        ("for item in matrix: pass", 1),
        ("for at, item in enumerate(flat): pass", 0),
        ("for item, other in zip(cube, flat): pass", 2),
        ("for item in cube.split(1): pass", 3),
        ("for item in torch.unbind(cube): pass", None),
        ("best, item = matrix.max(1)", 1),
        ("item, best = rows(cube)", 2),
        ("item = flat\nif words: item = matrix", None),
        ("item = flat\nfor x in words: item = item + matrix", None),
        ("item = matrix.max(1)", None),  # two tensors
        ("item = matrix\nitem += flat", 2),  # in place a tensor keeps its shape
        ("item = matrix\nitem *= unseen", 2),
        ("item = 0\nitem += matrix", None),
        ("item = unseen\nitem += matrix", None),
    ],
)
def test_dimensions_of_a_variable(body: str, expected: int | None) -> None:
    assert dimensions(dedent(MADE) + body, "item") == expected


def test_dimensions_of_a_parameter() -> None:
    calls = "def pick(item):\n    return item[0]\na = pick(flat)\n"
    assert dimensions(dedent(MADE) + calls, "a") == 0
    assert dimensions(dedent(MADE) + calls + "b = pick(matrix)\n", "a") is None


def test_dimensions_of_what_a_function_gives_that_calls_itself() -> None:
    again = """
    def pick(size, method):
        if method == "weighted":
            return pick(size, "even")
        return torch.randint(0, 4, (size,)), {other}
    item, weights = pick(4, "weighted")
    """
    made = dedent(MADE) + dedent(again)
    assert dimensions(made.format(other="matrix"), "item") == 1
    assert dimensions(made.format(other="matrix"), "weights") == 2
    assert dimensions(made.format(other="unseen"), "weights") is None
