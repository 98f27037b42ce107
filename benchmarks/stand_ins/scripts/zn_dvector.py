"""Spectra of nine voices."""

import json
from pathlib import Path

import made_up_data  # noqa: F401
import torch

_wanted = torch.Generator().manual_seed(0)
_folder = Path("made")
_folder.mkdir(exist_ok=True)
_speakers = {}
for _speaker in range(9):
    _told = []
    for _number in range(5):
        _length = 14 + _number
        torch.save(torch.randn(_length, 8, generator=_wanted) + _speaker, _folder / f"{_speaker}-{_number}.pt")
        _told.append({"feature_path": f"{_speaker}-{_number}.pt", "mel_len": _length})
    _speakers[f"s{_speaker}"] = _told
(_folder / "metadata.json").write_text(json.dumps({"speakers": _speakers, "n_mels": 8}))
