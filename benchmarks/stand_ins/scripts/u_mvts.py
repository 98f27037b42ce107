"""Series of three features, of 6 to 12 moments each, and no spreadsheets."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules
import numpy

Path("output").mkdir(exist_ok=True)


class _Series:
    def __init__(self, *_, **__):
        import pandas

        chance = numpy.random.default_rng(0)
        lengths = chance.integers(6, 13, 56)
        index = numpy.repeat(numpy.arange(56), lengths)
        self.feature_df = pandas.DataFrame(chance.normal(size=(len(index), 3)).astype("float32"), index=index)
        self.all_IDs = self.feature_df.index.unique()
        self.labels_df = pandas.DataFrame(chance.integers(0, 2, 56).astype("int8"), index=self.all_IDs)
        self.class_names = ["0", "1"]
        self.max_seq_len = 12
        self.feature_names = list(self.feature_df.columns)


def _change(module):
    module.data_factory["made"] = _Series


def _change_model(module):
    before = module.TransformerBatchNormEncoderLayer.forward

    def forward(self, src, src_mask=None, src_key_padding_mask=None, **_):  # a layer is told more today
        return before(self, src, src_mask, src_key_padding_mask)

    module.TransformerBatchNormEncoderLayer.forward = forward


modules.when_imported("models.ts_transformer", _change_model)
numpy.savez = lambda *_, **__: None  # uneven lists are no arrays any more
for _name in ("xlrd", "xlwt", "xlutils.copy", "sktime.utils"):
    modules.put(_name)
modules.when_imported("datasets.data", _change)
