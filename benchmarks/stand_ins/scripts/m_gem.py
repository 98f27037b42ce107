"""Three tasks of digits as vectors."""

from pathlib import Path

import modules


def _write(torch: object) -> None:
    Path("data").mkdir(exist_ok=True)
    chance = torch.Generator().manual_seed(0)  # type: ignore[attr-defined]
    parts = []
    for count in (60, 20):
        parts.append([
            [task, torch.rand(count, 784, generator=chance), torch.randint(0, 10, (count,), generator=chance)]  # type: ignore[attr-defined]
            for task in range(3)
        ])  # fmt: skip
    torch.save(tuple(parts), "data/mnist_permutations.pt")  # type: ignore[attr-defined]


modules.when_imported("torch", _write)
