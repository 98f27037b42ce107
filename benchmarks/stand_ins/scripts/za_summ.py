"""Headlines with what they are of, in the form that TensorFlow keeps examples in, and smaller sizes."""

import struct
from pathlib import Path

import made_up_data
import modules
import numpy


class _Text:
    def __init__(self, value):
        self.bytes_list = modules.Anything()
        self.bytes_list.value = [value]


class Example:
    def __init__(self, data):
        article, abstract = data.split(b"\t")
        self.features = modules.Anything()
        self.features.feature = {"article": _Text(article), "abstract": _Text(abstract)}

    @staticmethod
    def FromString(data):
        return Example(data)


_chance = numpy.random.default_rng(0)
Path("data/chunked/train").mkdir(parents=True, exist_ok=True)
Path("data/saved_models").mkdir(parents=True, exist_ok=True)
Path("data/vocab").write_text("".join(f"w{one} {99 - one}\n" for one in range(36)))
with Path("data/chunked/train/train_000.bin").open("wb") as _file:
    for _number in range(120):
        _article = " ".join(made_up_data.words(int(_chance.integers(6, 14)), seed=_number))
        _abstract = "<s> " + " ".join(made_up_data.words(int(_chance.integers(3, 7)), seed=_number + 999)) + " </s>"
        _data = f"{_article}\t{_abstract}".encode()
        _file.write(struct.pack("q", len(_data)) + _data)


def _sizes(module):
    module.hidden_dim, module.emb_dim, module.batch_size, module.max_iterations = 8, 8, 4, 24
    module.max_enc_steps, module.max_dec_steps, module.vocab_size = 14, 7, 36


modules.when_imported("data_util.config", _sizes)
modules.put("tensorflow.core.example", example_pb2=modules.Anything())
import sys  # noqa: E402

_pb2 = modules.put("tensorflow.core.example.example_pb2", Example=Example)
sys.modules["tensorflow.core.example"].example_pb2 = _pb2
modules.put("rouge", Rouge=modules.Anything)
