"""Sentences in two languages by their lengths, in batches as torchtext made them, and a small model."""

import random
from typing import Any

import modules


class _Vocabulary:
    def __init__(self) -> None:
        self.itos = ["<unk>", "<pad>", "<sos>", "<eos>", *(f"w{number}" for number in range(60))]
        self.stoi = {word: number for number, word in enumerate(self.itos)}

    def __len__(self) -> int:
        return len(self.itos)


class _Field:
    def __init__(self, **_: Any) -> None:
        self.vocab = _Vocabulary()

    def build_vocab(self, *_: Any, **__: Any) -> None:
        pass


class _Batch:
    def __init__(self, size: int, chance: random.Random, device: Any) -> None:
        import torch

        lengths = chance.randrange(5, 9), chance.randrange(5, 9)
        self.src, self.trg = (
            torch.tensor([[chance.randrange(4, 64) for _ in range(length)] for _ in range(size)], device=device)
            for length in lengths
        )


class _Batches:
    def __init__(self, count: int, size: int, device: Any) -> None:
        self._count, self._size, self._device, self._chance = count, size, device, random.Random(count)

    def __len__(self) -> int:
        return -(-self._count // self._size)

    def __iter__(self) -> Any:
        for number in range(len(self)):
            yield _Batch(min(self._size, self._count - number * self._size), self._chance, self._device)

    @staticmethod
    def splits(parts: tuple[int, ...], batch_size: int, device: Any) -> tuple["_Batches", ...]:
        return tuple(_Batches(part, batch_size, device) for part in parts)


def _change(conf: Any) -> None:
    conf.batch_size, conf.d_model, conf.n_layers, conf.n_heads, conf.ffn_hidden = 8, 16, 1, 2, 32


modules.put("torchtext.legacy.data", Field=_Field, BucketIterator=_Batches)
modules.put("torchtext.legacy.datasets.translation")
import sys  # noqa: E402

sys.modules["torchtext.legacy.datasets.translation"].Multi30k = type(  # type: ignore[attr-defined]
    "Multi30k", (), {"splits": staticmethod(lambda **_: (44, 20, 20))}
)
modules.put("spacy")
modules.when_imported("conf", _change)
