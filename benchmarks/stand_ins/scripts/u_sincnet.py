"""Voices of three speakers, as noise of different lengths."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)
Path("made").mkdir(exist_ok=True)
_names = [f"s{speaker}/{number}.wav" for speaker in range(3) for number in range(4)]
Path("made/train.scp").write_text("\n".join(_names) + "\n")
Path("made/test.scp").write_text("\n".join(_names[:4]) + "\n")
numpy.save("made/labels.npy", {name: int(name[1]) for name in _names}, allow_pickle=True)
Path("made/made.cfg").write_text("""[data]
tr_lst=made/train.scp
te_lst=made/test.scp
lab_dict=made/labels.npy
data_folder=made
output_folder=kept
pt_file=none

[windowing]
fs=1600
cw_len=200
cw_shift=20

[cnn]
cnn_N_filt=8,6,6
cnn_len_filt=31,5,5
cnn_max_pool_len=3,3,3
cnn_use_laynorm_inp=True
cnn_use_batchnorm_inp=False
cnn_use_laynorm=True,True,True
cnn_use_batchnorm=False,False,False
cnn_act=leaky_relu,leaky_relu,leaky_relu
cnn_drop=0.0,0.0,0.0

[dnn]
fc_lay=16,16
fc_drop=0.0,0.0
fc_use_laynorm_inp=True
fc_use_batchnorm_inp=False
fc_use_batchnorm=True,True
fc_use_laynorm=False,False
fc_act=leaky_relu,leaky_relu

[class]
class_lay=3
class_drop=0.0
class_use_laynorm_inp=False
class_use_batchnorm_inp=False
class_use_batchnorm=False
class_use_laynorm=False
class_act=softmax

[optimization]
lr=0.001
batch_size=8
N_epochs=3
N_batches=6
N_eval_epoch=2
seed=1234
""")


def _read(path):
    size = 420 + 37 * (sum(map(ord, str(path))) % 5)
    return numpy.random.default_rng(size).normal(size=size), 1600


def _change(module):
    load = module.load
    module.load = lambda *given, **named: load(*given, **{"allow_pickle": True, **named})


modules.put("soundfile", read=_read)
modules.when_imported("numpy", _change)
