"""Sounds of several lengths and one or two channels, their kinds, and something like a spectrogram."""

import made_up_data
import modules
import numpy

_chance = numpy.random.default_rng(0)
_kinds = _chance.integers(0, 10, 20)
made_up_data.smaller_batches(8)


class Table:
    def __init__(self, _):
        self.iloc = self

    def __len__(self):
        return 20

    def __getitem__(self, place):
        row, column = place
        return int(_kinds[row]) if column == 6 else f"{row}.wav"


def _load(path):
    import torch

    row = int(path.rpartition("/")[2].partition(".")[0])
    shape = 1 + row % 2, (22050, 16000, 24000)[row % 3]
    return torch.from_numpy(numpy.random.default_rng(row).normal(size=shape).astype("float32")), 22050


def _spectrogram(n_mels, hop_length, **_):
    import torch

    class Spectrogram(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("bands", torch.randn(hop_length, n_mels))

        def forward(self, sound):
            frames = torch.nn.functional.pad(sound, (0, 22528 - sound.shape[1])).view(-1, 44, hop_length)
            return (frames @ self.bands).abs().transpose(1, 2)

    return Spectrogram()


modules.put("pandas", read_csv=Table)
modules.put("torchaudio", load=_load)
modules.put("torchaudio.transforms", MelSpectrogram=_spectrogram)
