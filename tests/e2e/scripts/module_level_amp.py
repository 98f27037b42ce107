"""Trains at module level: device as a bare string, autocast and loss scaling, gradient accumulation."""
import math
import time
from contextlib import nullcontext

import torch
import torch.nn as nn
from torch.nn import functional as F

# configuration
max_iters = 14
log_interval = 4
batch_size = 8
block_size = 16
vocab_size = 32
n_embd = 32
gradient_accumulation_steps = 2
learning_rate = 5e-3
warmup_iters = 3
grad_clip = 1.0
device = "cuda"
dtype = "float16"

torch.manual_seed(1337)
torch.cuda.manual_seed(1337)
torch.backends.cuda.matmul.allow_tf32 = True
torch.backends.cudnn.allow_tf32 = True
device_type = "cuda" if "cuda" in device else "cpu"
ptdtype = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}[dtype]
ctx = nullcontext() if device_type == "cpu" else torch.amp.autocast(device_type=device_type, dtype=ptdtype)

# a stream in which every character follows from the two before it
stream = torch.zeros(2048, dtype=torch.int64)
stream[1] = 1
for i in range(2, len(stream)):
    stream[i] = (stream[i - 1] + stream[i - 2] + i % 3) % vocab_size


def get_batch():
    ix = torch.randint(len(stream) - block_size, (batch_size,))
    x = torch.stack([stream[i : i + block_size] for i in ix])
    y = torch.stack([stream[i + 1 : i + 1 + block_size] for i in ix])
    if device_type == "cuda":
        # from pinned memory the copy does not block
        x, y = x.pin_memory().to(device, non_blocking=True), y.pin_memory().to(device, non_blocking=True)
    else:
        x, y = x.to(device), y.to(device)
    return x, y


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(n_embd)
        self.qkv = nn.Linear(n_embd, 3 * n_embd, bias=False)
        self.mlp = nn.Sequential(nn.Linear(n_embd, 2 * n_embd), nn.GELU(), nn.Linear(2 * n_embd, n_embd))

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).chunk(3, dim=-1)
        x = x + F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.mlp(x)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, n_embd)
        self.position = nn.Embedding(block_size, n_embd)
        self.block = Block()
        self.head = nn.Linear(n_embd, vocab_size)

    def forward(self, idx, targets):
        pos = torch.arange(0, idx.size(1), dtype=torch.long, device=idx.device)
        logits = self.head(self.block(self.embed(idx) + self.position(pos)))
        return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))


model = Model()
model.to(device)
scaler = torch.cuda.amp.GradScaler(enabled=(dtype == "float16"))
optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, betas=(0.9, 0.95), fused=device_type == "cuda")


def get_lr(it):
    if it < warmup_iters:
        return learning_rate * (it + 1) / (warmup_iters + 1)
    return learning_rate * 0.5 * (1.0 + math.cos(math.pi * it / (2 * max_iters)))


X, Y = get_batch()
t0 = time.time()
for iter_num in range(max_iters):
    for param_group in optimizer.param_groups:
        param_group["lr"] = get_lr(iter_num)
    for micro_step in range(gradient_accumulation_steps):
        with ctx:
            loss = model(X, Y)
            loss = loss / gradient_accumulation_steps
        # the copy of the next batch overlaps the backward pass
        X, Y = get_batch()
        scaler.scale(loss).backward()
    if grad_clip != 0.0:
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), grad_clip)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad(set_to_none=True)

    t1 = time.time()
    dt = t1 - t0
    t0 = t1
    if iter_num % log_interval == 0:
        lossf = loss.item() * gradient_accumulation_steps
        print(f"iter {iter_num}: loss {lossf:.4f}, time {dt * 1000:.2f}ms")
