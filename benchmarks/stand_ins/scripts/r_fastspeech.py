"""45 spoken sentences of four to seven sounds as noise, a small network, and no vocoder."""

import json
from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy
import yaml

modules.put("unidecode", unidecode=lambda text: text)
_chance = numpy.random.default_rng(0)
for _name in ("mel", "pitch", "energy", "duration"):
    Path(f"made/{_name}").mkdir(parents=True, exist_ok=True)
Path("made/speakers.json").write_text(json.dumps({"LJ": 0}))
Path("made/stats.json").write_text(json.dumps({"pitch": [-2, 2, 0, 1], "energy": [-2, 2, 0, 1]}))
for _split, _count in (("train", 66), ("val", 7)):
    _lines = []
    for _number in range(_count):
        _base, _sounds = f"{_split}{_number}", int(_chance.integers(4, 8))
        _durations = _chance.integers(1, 4, _sounds)
        numpy.save(f"made/duration/LJ-duration-{_base}.npy", _durations)
        numpy.save(f"made/mel/LJ-mel-{_base}.npy", _chance.normal(size=(_durations.sum(), 80)).astype("float32"))
        for _name in ("pitch", "energy"):
            numpy.save(f"made/{_name}/LJ-{_name}-{_base}.npy", _chance.normal(size=_sounds).astype("float32"))
        _lines.append(f"{_base}|LJ|{{{' '.join(['AH0', 'N', 'T', 'S', 'IY1', 'K', 'D'][:_sounds])}}}|some text")
    Path(f"made/{_split}.txt").write_text("\n".join(_lines) + "\n")
_folder = Path("config/LJSpeech")
_options = {name: yaml.safe_load((_folder / f"{name}.yaml").read_text()) for name in ("preprocess", "model", "train")}
_options["preprocess"]["path"]["preprocessed_path"] = "made"
_options["model"]["transformer"].update(
    encoder_layer=1, encoder_hidden=8, decoder_layer=1, decoder_hidden=8, conv_filter_size=8
)
_options["model"]["variance_predictor"]["filter_size"] = 8
_options["model"]["variance_embedding"]["n_bins"] = 8
_options["train"]["optimizer"]["batch_size"] = 4
_options["train"]["step"].update(log_step=2, synth_step=1000, val_step=6, save_step=1000)
for _name, _one in _options.items():
    Path(f"{_name}.yaml").write_text(yaml.safe_dump(_one))


def _change(module):
    module.get_vocoder = lambda *_: None


def _change_tools(module):
    module.synth_one_sample = lambda *_: (None, None, None, "made")
    module.log = lambda *_, **__: None


def _change_network(module):
    whole = module.PostNet.__init__
    module.PostNet.__init__ = lambda self: whole(self, postnet_embedding_dim=8, postnet_n_convolutions=2)


modules.when_imported("utils.model", _change)
modules.when_imported("utils.tools", _change_tools)
modules.when_imported("transformer.Layers", _change_network)
