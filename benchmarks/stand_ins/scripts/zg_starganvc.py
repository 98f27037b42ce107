"""What was said by ten speakers, as coded already, and some of it as sound."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)
_train, _test = Path("data/mc/train"), Path("data/mc/test")
for _one in (_train, _test):
    _one.mkdir(parents=True, exist_ok=True)
for _number, _who in enumerate((262, 272, 229, 232, 292, 293, 360, 361, 248, 251)):
    numpy.save(_train / f"p{_who}_001.npy", _chance.normal(size=(260 + _number, 36)))
for _who in (262, 272):
    numpy.savez(
        _train / f"p{_who}_stats.npz", log_f0s_mean=5.0, log_f0s_std=0.2, coded_sps_mean=numpy.zeros(36),
        coded_sps_std=numpy.ones(36),
    )  # fmt: skip
for _number in range(4):
    numpy.save(_test / f"p262-p262_{_number:03d}.npy", _chance.normal(size=(64, 36)))


def _draw(*shape):
    return _chance.random(shape) + 100


modules.put("librosa", load=lambda path, **_: (_chance.normal(size=4000), 16000))
modules.put(
    "pyworld", harvest=lambda *_, **__: (_draw(64), _draw(64)), cheaptrick=lambda *_: _draw(64, 513),
    d4c=lambda *_: _draw(64, 513), code_spectral_envelope=lambda *_: _draw(64, 36),
    get_cheaptrick_fft_size=lambda _: 1024, decode_spectral_envelope=lambda *_: _draw(64, 513),
    synthesize=lambda *_: _draw(4000),
)  # fmt: skip
