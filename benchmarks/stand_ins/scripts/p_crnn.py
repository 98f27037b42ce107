"""Pictures of words."""

import random
from pathlib import Path
from typing import Any

import made_up_data
import modules

_folder = Path("pictures")
_chance = random.Random(0)
made_up_data.folder_of_pictures(_folder, 44, 32, 0)
_words = ["".join(_chance.choices("abcdefghij", k=_chance.randrange(3, 7))) for _ in range(20)]
(_folder / "lexicon.txt").write_text("\n".join(_words) + "\n")
for _part, _numbers in (("train", range(30)), ("val", range(30, 44))):
    (_folder / f"annotation_{_part}.txt").write_text(
        "".join(f"{number:04d}.png {_chance.randrange(20)}\n" for number in _numbers)
    )
Path("checkpoints").mkdir(exist_ok=True)


def _change(config: Any) -> None:
    config.train_config.update(
        data_dir="pictures/", epochs=3, train_batch_size=8, eval_batch_size=8, show_interval=2, valid_interval=4,
        save_interval=4, rnn_hidden=16, map_to_seq_hidden=16,
    )  # fmt: skip


modules.when_imported("config", _change)
