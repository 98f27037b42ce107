"""A step of a small Llama of Transformers, for `tpulint plan`: random weights, random text, nothing is downloaded.

pip install transformers
tpulint plan examples/plan_llama.py --tpu v5e
"""

import argparse

import torch
import torch_xla
from transformers import LlamaConfig, LlamaForCausalLM

parser = argparse.ArgumentParser()
parser.add_argument("--layers", type=int, default=4)
parser.add_argument("--hidden", type=int, default=512)
parser.add_argument("--sequence", type=int, default=512)
parser.add_argument("--batch-size", type=int, default=8)
options = parser.parse_args()

config = LlamaConfig(
    vocab_size=32000, hidden_size=options.hidden, intermediate_size=4 * options.hidden,
    num_hidden_layers=options.layers, num_attention_heads=options.hidden // 64, num_key_value_heads=2,
    max_position_embeddings=options.sequence, attn_implementation="eager",
)  # fmt: skip
device = torch_xla.device()
model = LlamaForCausalLM(config).to(device)
optimizer = torch.optim.AdamW(model.parameters(), 3e-4)
# Of four dimensions, so that Transformers makes none of its own, for which it would read values.
mask = torch.full((options.sequence, options.sequence), torch.finfo(torch.float32).min, device=device).triu(1)
mask = mask.expand(options.batch_size, 1, options.sequence, options.sequence)
for _step in range(5):
    words = torch.randint(0, config.vocab_size, (options.batch_size, options.sequence)).to(device)
    optimizer.zero_grad()
    with torch.autocast("xla", dtype=torch.bfloat16):
        loss = model(input_ids=words, attention_mask=mask, labels=words, use_cache=False).loss
    loss.backward()
    optimizer.step()
    torch_xla.sync()
