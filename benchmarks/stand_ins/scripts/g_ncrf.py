"""Sentences with tags, and settings for a small model."""

from pathlib import Path

import made_up_data
import numpy

_noise = numpy.random.default_rng(0)
Path("made").mkdir(exist_ok=True)
for _name, _count in (("train", 33), ("dev", 8), ("test", 8)):
    _text = ""
    for _number in range(_count):
        for _word in made_up_data.words(int(_noise.integers(3, 10)), seed=_number):
            _text += f"{_word} {_noise.choice(['O', 'S-PER', 'S-LOC'])}\n"
        _text += "\n"
    Path(f"made/{_name}.bmes").write_text(_text)
Path("made/made.config").write_text("""train_dir=made/train.bmes
dev_dir=made/dev.bmes
test_dir=made/test.bmes
model_dir=made/lstmcrf
norm_word_emb=False
norm_char_emb=False
number_normalized=True
seg=True
word_emb_dim=8
char_emb_dim=6
use_crf=True
use_char=True
word_seq_feature=LSTM
char_seq_feature=CNN
status=train
optimizer=SGD
iteration=2
batch_size=6
ave_batch_loss=False
cnn_layer=1
char_hidden_dim=8
hidden_dim=8
dropout=0.5
lstm_layer=1
bilstm=True
learning_rate=0.015
lr_decay=0.05
momentum=0
l2=1e-8
""")
