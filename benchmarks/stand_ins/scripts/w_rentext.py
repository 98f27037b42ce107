"""News that was prepared before, as the script wants it, and a smaller configuration."""

import json
from pathlib import Path

import modules
import numpy

_chance = numpy.random.default_rng(0)
Path("made").mkdir(exist_ok=True)
_map = {"<pad>": 0, **{f"w{one}": one for one in range(1, 50)}, "<unk>": 50}
Path("made/word_map.json").write_text(json.dumps(_map))
_lengths = [int(one) for one in _chance.integers(4, 25, 46)]
_data = {
    "sents": [[int(one) for one in _chance.integers(1, 50, length)] + [0] * (24 - length) for length in _lengths],
    "words_per_sentence": _lengths,
    "labels": [one % 4 for one in range(46)],
}
Path("made/config.yaml").write_text("""model_name: transformer
dataset: ag_news
dataset_path: made
output_path: made
word_limit: 24
min_word_count: 1
emb_pretrain: False
emb_folder: made
emb_filename: none
emb_size: 16
fine_tune_word_embeddings: True
n_heads: 2
n_encoders: 1
hidden_size: 32
dropout: 0.3
checkpoint_path: made
checkpoint_basename: kept
start_epoch: 0
batch_size: 8
lr: 0.001
lr_decay: 0.9
workers: 0
num_epochs: 3
grad_clip: null
print_freq: 2
checkpoint: null
tensorboard: True
log_dir: made
""")


def _change(torch):
    torch.save(_data, "made/TRAIN_data.pth.tar")


modules.put("nltk.tokenize")
modules.when_imported("torch", _change)
