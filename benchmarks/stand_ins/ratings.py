"""Ratings of users and, for each, a rated item and others that were not."""

import random
from pathlib import Path

import modules


def install() -> None:
    """Write them to the working directory, and let the script's ``config`` find them there."""
    chance = random.Random(0)
    seen = {user: chance.sample(range(60), 8) for user in range(30)}
    Path("models").mkdir(exist_ok=True)
    Path("r.rating").write_text(
        "".join(f"{user}\t{item}\t5\t1\n" for user, items in seen.items() for item in items[1:])
    )
    Path("r.negative").write_text("".join(
        f"({user},{items[0]})\t" + "\t".join(str(chance.randrange(60)) for _ in range(19)) + "\n"
        for user, items in seen.items()
    ))  # fmt: skip
    modules.when_imported("config", _change)


def _change(module: object) -> None:
    module.train_rating, module.test_negative = "r.rating", "r.negative"  # type: ignore[attr-defined]
