"""26 spoken sentences of different lengths as noise, and the options of a small model."""

import pickle
from pathlib import Path

import made_up_data
import numpy

_chance = numpy.random.default_rng(0)
Path("data/mel").mkdir(parents=True, exist_ok=True)
_kept, _texts = [], {}
for _number in range(26):
    _length = int(_chance.integers(20, 60))
    _name = f"s{_number}"
    numpy.save(f"data/mel/{_name}.npy", _chance.random((80, _length)).astype("float32"))
    _kept.append((_name, _length))
    _texts[_name] = " ".join(made_up_data.words(int(_chance.integers(2, 7)), seed=_number))
Path("data/dataset.pkl").write_bytes(pickle.dumps(_kept))
Path("data/text_dict.pkl").write_bytes(pickle.dumps(_texts))
_options = Path("hparams.py").read_text()
Path("made_options.py").write_text(_options + """
num_mels = 80
tts_embed_dims = 8
tts_encoder_dims = 128
tts_decoder_dims = 256
tts_postnet_dims = 8
tts_encoder_K = 3
tts_lstm_dims = 16
tts_postnet_K = 3
tts_num_highways = 1
tts_cleaner_names = ['basic_cleaners']
tts_schedule = [(7, 1e-3, 8, 4), (5, 1e-4, 16, 4)]
tts_checkpoint_every = 6
""")
