"""Photographs of skin and masks, as the challenge named them."""

from pathlib import Path

import made_up_data

for part, count in (("train", 8), ("valid", 3), ("test", 3)):
    made_up_data.folder_of_pictures(f"dataset/{part}", count, 64, 0, ".jpg")
    made_up_data.folder_of_pictures(f"dataset/{part}_GT", count, 64, 0, ".png", "L")
    for path in Path(f"dataset/{part}").glob("0*.jpg"):
        path.rename(path.with_name(f"ISIC_{path.name}"))
    for path in Path(f"dataset/{part}_GT").glob("0*.png"):
        path.rename(path.with_name(f"ISIC_{path.stem}_segmentation.png"))
