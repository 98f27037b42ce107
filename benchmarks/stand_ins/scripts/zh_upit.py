"""Two who speak at once, and what makes spectra of sounds."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)
Path("made").mkdir(exist_ok=True)
for _part, _count in (("train", 10), ("dev", 5)):
    _lists = {who: [] for who in ("mix", "spk1", "spk2")}
    for _number in range(_count):
        _sounds = _chance.normal(size=(2, 60 + 8 * (_number % 4))).astype("float32")
        for _who, _sound in (("mix", _sounds.sum(axis=0)), ("spk1", _sounds[0]), ("spk2", _sounds[1])):
            numpy.save(f"made/{_part}_{_number}_{_who}.npy", _sound)
            _lists[_who].append(f"{_number}\tmade/{_part}_{_number}_{_who}.npy\n")
    for _who, _lines in _lists.items():
        Path(f"made/{_part}_{_who}.scp").write_text("".join(_lines))
_parts = "".join(
    f"{name}: {{mixture: made/{part}_mix.scp, spk1: made/{part}_spk1.scp, spk2: made/{part}_spk2.scp}}\n"
    for name, part in (("train_scp_conf", "train"), ("valid_scp_conf", "dev"), ("debug_scp_conf", "dev"))
)
Path("made/made.yaml").write_text(_parts + """
trainer: {checkpoint: made/kept, optimizer: adam, lr: 0.001, momentum: 0.9, weight_decay: 0, clip_norm: 200,
          min_lr: 0.0000001, patience: 1, factor: 0.7}
model: {num_spks: 2, rnn: lstm, num_layers: 2, hidden_size: 8, dropout: 0.2, non_linear: relu, bidirectional: true}
spectrogram_reader: {frame_shift: 8, frame_length: 16, window: hann, transpose: true, apply_abs: false}
dataloader: {shuffle: true, batch_size: 4, drop_last: false, mvn_dict: null}
""")


def _spectra(sound, size, shift, *_, **__):
    starts = range(0, len(sound) - size + 1, shift)
    return numpy.stack([numpy.fft.rfft(sound[one:one + size] * numpy.hanning(size)) for one in starts], axis=1)


def _change(module):
    before = module.load
    module.load = lambda stream, Loader=module.SafeLoader: before(stream, Loader)


modules.put("librosa", load=lambda path, **_: (numpy.load(path), 8000), stft=_spectra)
modules.when_imported("yaml", _change)
