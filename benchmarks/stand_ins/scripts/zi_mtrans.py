"""Notes as numbers."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules


def _change(torch):
    Path("made").mkdir(exist_ok=True)
    notes = torch.randint(3, 40, (22, 13), generator=torch.Generator().manual_seed(0))
    for number in range(22):
        notes[number, 13 - number % 4 :] = 0
    torch.save(notes, "made/notes.pt")


modules.when_imported("torch", _change)
