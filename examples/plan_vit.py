"""A step of a vision transformer of timm, for `tpulint plan`: random weights, random images, nothing is downloaded.

pip install timm
tpulint plan examples/plan_vit.py --tpu v5e
"""

import argparse

import timm
import torch
import torch_xla

parser = argparse.ArgumentParser()
parser.add_argument("--model", default="vit_tiny_patch16_224")
parser.add_argument("--batch-size", type=int, default=64)
options = parser.parse_args()

device = torch_xla.device()
model = timm.create_model(options.model, pretrained=False, num_classes=1000).to(device)
optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
for _step in range(5):
    images = torch.randn(options.batch_size, 3, 224, 224).to(device)
    labels = torch.randint(0, 1000, (options.batch_size,)).to(device)
    optimizer.zero_grad()
    with torch.autocast("xla", dtype=torch.bfloat16):
        loss = torch.nn.functional.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    torch_xla.sync()
