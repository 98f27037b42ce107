"""News of made-up words and what they are about."""

from pathlib import Path

import made_up_data

folder = Path("input/yelp_review_polarity_csv")
folder.mkdir(parents=True, exist_ok=True)
for part, count in (("train", 36), ("test", 12)):
    lines = [
        f'"{1 + number % 2}","a title","{" ".join(made_up_data.words(30, seed=number))}"' for number in range(count)
    ]
    (folder / f"{part}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
