"""Voices of eight speakers as noise, and a spectrogram of fewer steps."""

import warnings
from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)
Path("made").mkdir(exist_ok=True)
Path("made/train.txt").write_text("".join(f"id{one % 8} id{one % 8}/v{one}.wav\n" for one in range(46)))
Path("made/eval.txt").write_text("".join(
    f"{one % 2} e/{one % 5}.wav e/{(one + 1 + one % 2) % 5}.wav\n" for one in range(8)
))  # fmt: skip
for _kind in ("noise", "speech", "music"):
    for _number in range(9):
        _folder = Path(f"made/musan/{_kind}/a/b")
        _folder.mkdir(parents=True, exist_ok=True)
        (_folder / f"{_number}.wav").write_text("")
for _number in range(3):
    _folder = Path("made/rir/a/b")
    _folder.mkdir(parents=True, exist_ok=True)
    (_folder / f"{_number}.wav").write_text("")


def _read(path):
    seed = sum(map(ord, str(path)))
    chance = numpy.random.default_rng(seed)
    if "rir" in str(path):
        return chance.normal(size=40), 16000
    return chance.normal(size=6000 + 700 * (seed % 5)), 16000


def _change(torch):
    class MelSpectrogram(torch.nn.Module):
        def __init__(self, n_mels=80, hop_length=160, **_):
            super().__init__()
            self._hop = hop_length
            self.register_buffer("mels", torch.rand(hop_length, n_mels) / hop_length)

        def forward(self, waves):
            count = waves.shape[-1] // self._hop
            return waves[:, : count * self._hop].reshape(len(waves), count, self._hop).abs().matmul(self.mels).mT

    modules.put("torchaudio.transforms", MelSpectrogram=MelSpectrogram)




warnings.simplefilter("ignore")
modules.put("soundfile", read=_read)
modules.put("torchaudio")
modules.when_imported("torch", _change)
