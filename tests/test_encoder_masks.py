"""Encoders of Transformers that read their attention mask: which of them, and which masks."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_files import agree

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.source import SourceFile

TEXT = """\
import torch
import transformers
from transformers import AutoModel, AutoModelForSequenceClassification, BertModel, MPNetModel, RobertaModel

name = "bert-base-uncased"
model = {made}.cuda()
optimizer = torch.optim.AdamW(model.parameters())
for batch in loader:
    ids, mask = batch["ids"].cuda(), batch["mask"].cuda()
    loss = model({given})[0].sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
BERT = "BertModel.from_pretrained(name)"
AUTO = "AutoModelForSequenceClassification.from_pretrained"


@pytest.mark.parametrize(
    ("made", "given", "told"),
    [
        (BERT, "ids, attention_mask=mask", "`BertModel`"),
        (BERT, "ids, mask", "`BertModel`"),
        (BERT, "**batch", "`BertModel`"),
        ("RobertaModel(config)", "ids, mask", "`RobertaModel`"),
        ("transformers.DistilBertForMaskedLM.from_pretrained(name)", "ids, mask", "`DistilBertForMaskedLM`"),
        (f"{AUTO}(name)", "ids, mask", "`AutoModelForSequenceClassification`"),
        ("AutoModel.from_pretrained('google/electra-small')", "ids, mask", "`AutoModel`"),
        ("AutoModel.from_pretrained('xlm-roberta-base')", "ids, mask", "`AutoModel`"),
        (BERT, "ids", ""),
        (BERT, "ids, attention_mask=None", ""),
        (BERT, "ids, attention_mask=mask[:, None, None, :].bool()", ""),
        (BERT, "ids, attention_mask=mask.unsqueeze(1).unsqueeze(2).bool()", ""),
        (BERT, "ids, **{'token_type_ids': ids}", ""),
        ("MPNetModel.from_pretrained(name)", "ids, mask", ""),
        (f"{AUTO}('microsoft/deberta-v3-base')", "ids, mask", ""),
        (f"{AUTO}('facebook/hubert-base-ls960')", "ids, mask", ""),
        (f"{AUTO}(options.name)", "ids, mask", ""),
        ("transformers.BertForCausalLM(config)", "ids, mask", ""),
        ("transformers.BertModel(BertConfig(attn_implementation='eager'))", "ids, mask", ""),
    ],
)
def test_which_models_and_which_masks(made: str, given: str, told: str) -> None:
    text = TEXT.format(made=made, given=given)
    found = lint(SourceFile.from_text(text), Settings(select=("TPU816",), preview=True), load()).findings
    assert [told in finding.message for finding in found] == [True] * bool(told)
    host = text.replace(".cuda()", "")
    assert not lint(SourceFile.from_text(host), Settings(select=("TPU816",), preview=True), load()).findings


def test_encoder_in_a_module_of_another_file(tmp_path: Path) -> None:
    agree(
        tmp_path,
        "TPU816,TPU101",
        net="""\
            import torch
            from transformers import BertModel

            class Classifier(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.bert = BertModel.from_pretrained("bert-base-uncased")
                    self.head = torch.nn.Linear(768, 2)

                def forward(self, ids, mask):
                    return self.head(self.bert(ids, attention_mask=mask).pooler_output)  # TPU816

                def export(self, ids, mask):
                    return self.bert(ids, attention_mask=mask)
            """,
        train="""\
            import torch
            from net import Classifier

            model = Classifier().cuda()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for ids, mask, y in batches:
                loss = torch.nn.functional.cross_entropy(model(ids.cuda(), mask.cuda()), y.cuda())
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            """,
    )
