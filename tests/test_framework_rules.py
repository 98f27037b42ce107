"""Settings and hooks of training frameworks."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tpulint.catalog import load
from tpulint.config import Settings
from tpulint.linter import lint
from tpulint.model import Finding, Severity
from tpulint.source import SourceFile

CATALOGUE = load()


def found(text: str, *codes: str) -> tuple[Finding, ...]:
    result = lint(SourceFile.from_text(dedent(text).lstrip("\n")), Settings(select=codes, preview=True), CATALOGUE)
    assert result.error == ""
    return result.findings


def test_hook_of_a_class_whose_base_stands_in_the_file() -> None:
    findings = found(
        """
        import lightning.pytorch as pl
        import torch.nn.functional as F

        class Base(pl.LightningModule):
            pass

        class Net(Base):
            def training_step(self, batch, batch_idx):
                return self._shared(batch)

            def _shared(self, batch):
                loss = F.cross_entropy(self(batch["x"]), batch["y"])
                self.history.append(loss.item())
                return loss

            def other(self, batch):
                return F.cross_entropy(self(batch["x"]), batch["y"]).item()
        """,
        "TPU826",
    )
    assert [(finding.severity, "_shared" in finding.message) for finding in findings] == [(Severity.ERROR, True)]


@pytest.mark.parametrize(
    ("hook", "severities"),
    [
        ("on_step_end", [Severity.ERROR]),
        ("on_pre_optimizer_step", [Severity.ERROR]),
        ("on_log", []),
        ("on_epoch_end", []),
    ],
)
def test_callbacks_of_transformers(hook: str, severities: list[Severity]) -> None:
    findings = found(
        f"""
        from transformers import TrainerCallback

        class Watch(TrainerCallback):
            def {hook}(self, args, state, control, model=None, **kwargs):
                self.norms.append(next(model.parameters()).norm().item())
        """,
        "TPU826",
    )
    assert [finding.severity for finding in findings] == severities


def test_read_at_an_interval_is_a_warning() -> None:
    findings = found(
        """
        from trl import SFTTrainer

        class Weighted(SFTTrainer):
            def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
                loss = model(**inputs).loss
                if self.state.global_step % 100 == 0:
                    self.log({"ce": loss.item()})
                return loss
        """,
        "TPU826",
    )
    assert [finding.severity for finding in findings] == [Severity.WARNING]


def test_loop_of_its_own_is_not_told_twice() -> None:
    text = """
        import lightning as L
        import torch

        class Net(L.LightningModule):
            def training_step(self, batch, batch_idx):
                optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
                for x, y in batch:
                    loss = torch.nn.functional.cross_entropy(self(x), y)
                    optimizer.zero_grad()
                    self.manual_backward(loss)
                    optimizer.step()
                    print(loss.item())
        """
    assert not found(text, "TPU826")


def test_settings_in_a_dictionary_reach_checks_in_python() -> None:
    text = """
        from transformers import TrainingArguments

        options = dict(per_device_train_batch_size=8)
        args = TrainingArguments("out", **options)
        """
    assert len(found(text, "TPU815")) == 1
    assert not found(text.replace("=8)", "=1)"), "TPU815")
    assert not found(text.replace("dict(", "read("), "TPU815")


@pytest.mark.parametrize("model", ["AutoModelForCausalLM.from_pretrained(name)", "build(name)", "vllm.LLM(name)"])
def test_only_models_of_transformers_generate_with_its_cache(model: str) -> None:
    text = f"""
        import vllm
        from transformers import AutoModelForCausalLM

        model = {model}
        print(model.generate(tokens, max_new_tokens=10))
        """
    assert bool(found(text, "TPU813")) == model.startswith("Auto")


COMMENTED_ARGUMENTS = {
    "the comment of the last argument stays with it": (
        """
        Trainer(args=TrainingArguments(
            output_dir="o",
            push_to_hub=True,  # to the hub
        ))
        """,
        """
        Trainer(args=TrainingArguments(
            output_dir="o",
            push_to_hub=True,  # to the hub
            optim="adamw_torch",
        ))
        """,
    ),
    "rows of comments belong to what follows": (
        """
        Trainer(args=TrainingArguments(
            optim="adamw_torch",
            use_liger_kernel=True,  # faster

            # reporting
            report_to="none",
        ))
        """,
        """
        Trainer(args=TrainingArguments(
            optim="adamw_torch",
            # reporting
            report_to="none",
        ))
        """,
    ),
    "the comment above the last argument stays": (
        """
        Trainer(args=TrainingArguments(
            optim="adamw_torch",  # plain
            use_liger_kernel=True,  # faster
        ))
        """,
        """
        Trainer(args=TrainingArguments(
            optim="adamw_torch",  # plain
        ))
        """,
    ),
    "a parenthesis does not get into a comment": (
        """
        Trainer(args=TrainingArguments(
            optim="adamw_torch",  # plain
            use_liger_kernel=True))
        """,
        """
        Trainer(args=TrainingArguments(
            optim="adamw_torch",  # plain
        ))
        """,
    ),
    "nor does one behind a comma": (
        """
        if train:
            Trainer(args=TrainingArguments(optim="adamw_torch",  # plain
                                           use_liger_kernel=True,))
        """,
        """
        if train:
            Trainer(args=TrainingArguments(optim="adamw_torch",  # plain
            ))
        """,
    ),
}


@pytest.mark.parametrize(("before", "after"), COMMENTED_ARGUMENTS.values(), ids=COMMENTED_ARGUMENTS)
def test_comments_stay_with_the_arguments_they_tell_of(before: str, after: str) -> None:
    head = "from transformers import Trainer, TrainingArguments\n"
    settings = Settings(fix=True, unsafe_fixes=True, select=("TPU801",))
    result = lint(SourceFile.from_text(head + dedent(before)), settings, CATALOGUE)
    assert result.text == head + dedent(after)


PREPARED = """
    import torch
    from accelerate import Accelerator
    from torch import nn

    accelerator = Accelerator()
    model = nn.Linear(8, 4)
    optimizer = torch.optim.Adam(model.parameters())
    loader = torch.utils.data.DataLoader(samples, batch_size=8, drop_last=True)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)

    def update(x):
        loss = model(x).pow(2).mean()
        accelerator.backward(loss)
        optimizer.step()
        return loss

    for step, x in enumerate(loader):
        optimizer.zero_grad()
        BODY
    """
BACKWARD = "loss = model(x).pow(2).mean(); accelerator.backward(loss)"


@pytest.mark.parametrize(
    ("body", "severities"),
    [
        (f"{BACKWARD}; print(loss.item()); optimizer.step()", [Severity.ERROR]),
        (f"{BACKWARD}; optimizer.step(); print(loss.item())", [Severity.ERROR]),
        ("loss = update(x); print(loss.item())", [Severity.ERROR]),
        (f"{BACKWARD}\n        if step % 100 == 0: print(loss.item())\n        optimizer.step()", [Severity.WARNING]),
        (f"{BACKWARD}; print(x.shape); optimizer.step()", []),
        # One that the loop sets itself.
        (f"{BACKWARD}; optimizer.step(); torch_xla.sync(); print(loss.item())", []),
        ("loss = update(x); torch_xla.sync(); print(loss.item())", []),
    ],
)
def test_boundary_of_a_prepared_loader_is_where_its_turns_begin(body: str, severities: list[Severity]) -> None:
    """The backward pass tells that there is one; it is none itself."""
    text = PREPARED.replace("BODY", body)
    text = text.replace("    import torch\n", "    import torch\n    import torch_xla\n") if "xla" in body else text
    assert [finding.severity for finding in found(text, "TPU101")] == severities
    assert not found(text, "TPU301")
