"""Names: what one stands for where a script gives it another value."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from tpulint.semantic import SemanticIndex
from tpulint.source import SourceFile

LOADER = "torch.utils.data.DataLoader"


def called(text: str) -> str | None:
    """The qualified name of the first function whose name ends with ``DataLoader``."""
    text = dedent(text)
    index = SemanticIndex(SourceFile.from_text(text), ast.parse(text))
    call = next(node for node in ast.walk(index.tree.module)
                if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("DataLoader"))  # fmt: skip
    return index.qualified_name(call.func)


@pytest.mark.parametrize(
    "text",
    [
        """
        from torch.utils import data
        loader = data.DataLoader(samples)
        for data in loader:
            print(data)
        """,
        """
        if __name__ == "__main__":
            import torch.utils.data as data
            loader = data.DataLoader(samples)
            data, target = next(iter(loader))
        """,
        """
        from torch.utils import data
        def load():
            return data.DataLoader(samples)
        """,
    ],
)
def test_a_module_is_one_until_its_name_gets_another_value(text: str) -> None:
    assert called(text) == LOADER


@pytest.mark.parametrize(
    "text",
    [
        """
        from torch.utils import data
        for data in batches:
            pass
        loader = data.DataLoader(samples)
        """,
        """
        from torch.utils import data
        while True:
            loader = data.DataLoader(samples)
            for data in loader:
                pass
        """,
        """
        from torch.utils import data
        def load():
            return data.DataLoader(samples)
        data = 3
        """,
        """
        from torch.utils import data
        def change():
            global data
            data = own
        change()
        loader = data.DataLoader(samples)
        """,
        """
        from torch.utils import data
        def change():
            data = own
            return data.DataLoader(samples)
        """,
    ],
)
def test_a_name_that_may_have_another_value_is_unknown(text: str) -> None:
    assert called(text) is None


IMPORTED_FOR_OLDER_TORCH = """
    try:
        from torch.utils.data import DataLoader
    except ImportError:
        from torch.utils.data.old import DataLoader
    loader = DataLoader(samples)
    """


def test_what_versions_have_in_two_places_is_what_is_tried_first() -> None:
    assert called(IMPORTED_FOR_OLDER_TORCH) == LOADER
    in_function = IMPORTED_FOR_OLDER_TORCH.replace("loader = Data", "def load():\n        return Data")
    assert called(in_function) == LOADER


@pytest.mark.parametrize(
    "old, new",
    [
        ("torch.utils.data.old", "own"),
        ("from torch.utils.data import", "from own import"),
        ("from torch.utils.data import", "from torch.utils._data import"),  # today's torch has none, maybe
        ("except ImportError:", "finally:"),
        ("    loader =", "    DataLoader = own.DataLoader\n    loader ="),
    ],
)
def test_what_is_tried_first_and_may_be_missing_is_unknown(old: str, new: str) -> None:
    changed = IMPORTED_FOR_OLDER_TORCH.replace(old, new, 1)
    assert changed != IMPORTED_FOR_OLDER_TORCH
    assert called(changed) is None
