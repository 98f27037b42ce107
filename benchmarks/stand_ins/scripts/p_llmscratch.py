"""A text, and an alphabet of its letters."""

from pathlib import Path
from typing import Any

import made_up_data
import modules


class Letters:
    """Takes every letter for a token."""

    def encode(self, text: str, **_: Any) -> list[int]:
        """Numbers of letters."""
        return [ord(letter) % 64 for letter in text]

    def decode(self, numbers: list[int]) -> str:
        """Some letters."""
        return "".join(chr(65 + int(number) % 26) for number in numbers)


modules.put("tiktoken", get_encoding=lambda _: Letters())
Path("the-verdict.txt").write_text(" ".join(made_up_data.words(480)), encoding="utf-8")
