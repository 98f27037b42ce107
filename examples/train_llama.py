"""Trains a small Llama of Transformers on ragged text: on a TPU, on a GPU or on the CPU, with the same code.

    pip install transformers
    python examples/train_llama.py [STEPS] [FOLDER]

The text is the documentation of Python's standard library, read byte by byte: nothing is downloaded. With FOLDER,
checkpoints are written there, and a run that was interrupted goes on from the last one.
"""

import importlib
import math
import sys

import torch
from torch.utils.data import DataLoader
from transformers import LlamaConfig, LlamaForCausalLM

from tpulint_runtime import (
    BucketBatchSampler,
    Buckets,
    Checkpoints,
    EarlyStopping,
    Evaluation,
    Loop,
    PadLastBatch,
    Progress,
    backend,
    plan_buckets,
    tally_correct,
    tally_cross_entropy,
)

ROWS = 8  # sentences of a batch
LONGEST = 96  # bytes of a sentence


def sentences():
    """First lines of docstrings, as tensors of bytes."""
    modules = ["argparse", "collections", "datetime", "decimal", "email.message", "inspect", "pathlib", "statistics"]
    found = set()
    for name in modules:
        for value in vars(importlib.import_module(name)).values():
            for part in (value, *getattr(value, "__dict__", {}).values()):
                text = getattr(part, "__doc__", None)
                if isinstance(text, str) and len(text.strip().splitlines()) > 0:
                    found.add(text.strip().splitlines()[0][:LONGEST])
    return [torch.tensor(list(line.encode()[:LONGEST])) for line in sorted(found) if len(line) > 8]


def loader_of(data, sizes):
    """Batches of few shapes: as many as there are sizes, however long the sentences are."""
    sampler = BucketBatchSampler([len(line) for line in data], sizes, ROWS, seed=0)
    collate = PadLastBatch(ROWS, collate=Buckets(sizes))
    return DataLoader(data, batch_sampler=sampler, collate_fn=collate, generator=torch.Generator())


def causal_mask(ids):
    """No byte sees what comes after it. Without a mask of four dimensions Transformers makes one, and for that looks at
    values: a host sync in every forward pass."""
    length = ids.size(1)
    mask = torch.full((length, length), torch.finfo(torch.float32).min, device=ids.device).triu(1)
    return mask.expand(ids.size(0), 1, length, length)


def tallies_of(model, batch):
    """What every byte says about the next one. Padding stands behind the text, where a causal model does not see it:
    it needs no mask but that of what counts."""
    (ids, mask), _rows = batch
    logits = model(input_ids=ids[:, :-1], attention_mask=causal_mask(ids[:, :-1]), use_cache=False).logits
    return {
        "loss": tally_cross_entropy(logits, ids[:, 1:], mask[:, 1:]),
        "accuracy": tally_correct(logits, ids[:, 1:], mask[:, 1:]),
    }


def loss_of(model, batch):
    tallies = tallies_of(model, batch)
    return tallies["loss"], {"accuracy": tallies["accuracy"]}


def main(steps=60, folder=None):
    torch.manual_seed(0)
    backend.manual_seed(0)
    config = LlamaConfig(
        vocab_size=256, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=LONGEST,
        # Autocast on XLA casts products of matrices, but not scaled_dot_product_attention, to which rotated queries
        # would come in float32 and values in bfloat16.
        attn_implementation="eager",
    )
    model = LlamaForCausalLM(config).to(backend.device())
    optimizer = torch.optim.AdamW(model.parameters(), 3e-3, betas=(0.9, 0.95), weight_decay=0.1)
    warmup = 10

    def factor(step):  # from 0 up in 10 steps, then down along a cosine
        return step / warmup if step < warmup else 0.5 * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup)))

    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)

    data = sentences()
    train, held_out = data[len(data) // 8 :], data[: len(data) // 8]
    sizes = plan_buckets([len(line) for line in data], 2, multiple=8).sizes
    before = backend.own().counts()
    loop = Loop(
        model, optimizer, loss_of, scheduler=scheduler, bf16=True, clip_norm=1.0, log_every=20,
        callbacks=[Progress(), EarlyStopping("loss", patience=3)],
    )
    evaluation = Evaluation(loader_of(held_out, sizes), tallies_of, every=30)
    if folder is None:
        history = loop.train(loader_of(train, sizes), steps=steps, evaluation=evaluation)
    else:
        with Checkpoints(folder, every=20) as checkpoints:
            history = loop.train(loader_of(train, sizes), steps=steps, evaluation=evaluation, checkpoints=checkpoints)
    work = backend.own().counts().since(before)
    for record in history.records:
        print(record.step, {name: round(value, 4) for name, value in record.values.items()})
    for record in history.evaluations:
        print("evaluated after", record.step, {name: round(value, 4) for name, value in record.values.items()})
    print(f"{len(sizes)} shapes; {work.compiles} programs compiled, {work.reads} reads, {work.extra_launches} extra launches")
    return history, sizes, work


if __name__ == "__main__":
    main(*[int(number) for number in sys.argv[1:2]], *sys.argv[2:3])
