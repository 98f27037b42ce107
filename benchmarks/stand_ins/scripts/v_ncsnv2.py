"""A small configuration; pictures are given to every script."""

from pathlib import Path

import made_up_data  # noqa: F401
import modules

Path("configs").mkdir(exist_ok=True)
Path("configs/made.yml").write_text("""
training: {batch_size: 8, n_epochs: 30, n_iters: 110, snapshot_freq: 60, snapshot_sampling: true, anneal_power: 2,
  log_all_sigmas: false}
sampling: {batch_size: 4, data_init: false, step_lr: 0.0000062, n_steps_each: 2, ckpt_id: 60, final_only: true,
  fid: false, denoise: true, num_samples4fid: 10, inpainting: false, interpolation: false, n_interpolations: 2}
data: {dataset: CIFAR10, image_size: 16, channels: 3, logit_transform: false, uniform_dequantization: false,
  gaussian_dequantization: false, random_flip: true, rescaled: false, num_workers: 0}
model: {sigma_begin: 50, num_classes: 5, ema: true, ema_rate: 0.999, spec_norm: false, sigma_dist: geometric,
  sigma_end: 0.01, normalization: InstanceNorm++, nonlinearity: elu, ngf: 4}
optim: {weight_decay: 0.000, optimizer: Adam, lr: 0.0001, beta1: 0.9, amsgrad: false, eps: 0.00000001}
""")


def _change(module):
    before = module.load
    module.load = lambda stream, Loader=module.SafeLoader: before(stream, Loader)


modules.put("lmdb")
modules.when_imported("yaml", _change)
