"""Sentences with names in them, of several lengths."""

from pathlib import Path

import made_up_data
import modules
import numpy

_chance = numpy.random.default_rng(0)
Path("data/made").mkdir(parents=True, exist_ok=True)
for _split, _count in (("train", 44), ("dev", 18), ("test", 14)):
    _lines = []
    for _number in range(_count):
        _words = made_up_data.words(int(_chance.integers(3, 10)), seed=_number + _count)
        for _index, _one in enumerate(_words):
            _lines.append(f"{_one}{'x' * (_index % 4)} {'B-PER' if _one in ('w1', 'w2') else 'O'}")
        _lines.append("")
    Path(f"data/made/{_split}.txt").write_text("\n".join(_lines) + "\n")


def _change(torch):
    names = (
        "BertModel BertTokenizer OpenAIGPTModel OpenAIGPTTokenizer GPT2Model GPT2Tokenizer CTRLModel CTRLTokenizer "
        "TransfoXLModel TransfoXLTokenizer XLNetModel XLNetTokenizer XLMModel XLMTokenizer DistilBertModel "
        "DistilBertTokenizer RobertaModel RobertaTokenizer XLMRobertaModel XLMRobertaTokenizer"
    )
    modules.put("transformers", AdamW=torch.optim.AdamW, **dict.fromkeys(names.split()))


modules.put("overrides", overrides=lambda given: given)
modules.when_imported("torch", _change)


def _change_config(module):
    before = module.Config.__init__

    def init(self, *given):
        import torch

        before(self, *given)
        self.device = torch.device("xla")  # as the option would say

    module.Config.__init__ = init


modules.put("termcolor", colored=lambda text, *_, **__: text)
modules.when_imported("src.config.config", _change_config)
