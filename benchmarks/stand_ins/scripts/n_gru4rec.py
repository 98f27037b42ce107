"""What visitors clicked, by session."""

from pathlib import Path

import numpy

chance = numpy.random.default_rng(0)
Path("clicks").mkdir(exist_ok=True)
for part, sessions in (("train", 60), ("valid", 20)):
    lines = ["SessionID,ItemID,Time"]
    if part == "train":
        lines += [f"0,{item},{item}" for item in range(30)]
    for session in range(1, sessions):
        for time in range(int(chance.integers(3, 9))):
            lines.append(f"{session},{chance.integers(0, 30)},{100 * session + time}")
    Path(f"clicks/{part}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
