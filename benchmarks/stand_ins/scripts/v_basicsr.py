"""Pictures in two sizes, a small network, and as much of OpenCV as a picture needs."""

import io
import sys
import types
from pathlib import Path

import made_up_data
import modules
import numpy
import scipy.ndimage
from PIL import Image

for _split, _count in (("train", 18), ("val", 3)):
    made_up_data.folder_of_pictures(f"made/{_split}/gt", _count, 48, 0)
    made_up_data.folder_of_pictures(f"made/{_split}/lq", _count, 12, 0)
Path("basicsr/version.py").write_text("__version__ = __gitsha__ = '1'\nversion_info = (1, 0, 0)\n")
Path("made.yml").write_text("""
name: made
model_type: SRModel
scale: 4
num_gpu: 1
manual_seed: 0
datasets:
  train:
    name: made
    type: PairedImageDataset
    dataroot_gt: made/train/gt
    dataroot_lq: made/train/lq
    filename_tmpl: '{}'
    io_backend:
      type: disk
    gt_size: 32
    use_flip: true
    use_rot: true
    use_shuffle: true
    num_worker_per_gpu: 0
    batch_size_per_gpu: 4
    dataset_enlarge_ratio: 1
    prefetch_mode: ~
  val:
    name: made
    type: PairedImageDataset
    dataroot_gt: made/val/gt
    dataroot_lq: made/val/lq
    io_backend:
      type: disk
network_g:
  type: MSRResNet
  num_in_ch: 3
  num_out_ch: 3
  num_feat: 8
  num_block: 2
  upscale: 4
path:
  pretrain_network_g: ~
  strict_load_g: true
  resume_state: ~
train:
  optim_g:
    type: Adam
    lr: !!float 2e-4
    weight_decay: 0
    betas: [0.9, 0.99]
  scheduler:
    type: CosineAnnealingRestartLR
    periods: [10, 10]
    restart_weights: [1, 1]
    eta_min: !!float 1e-7
  total_iter: 16
  warmup_iter: -1
  pixel_opt:
    type: L1Loss
    loss_weight: 1.0
    reduction: mean
val:
  val_freq: 6
  save_img: false
  metrics:
    psnr:
      type: calculate_psnr
      crop_border: 4
      test_y_channel: false
logger:
  print_freq: 3
  save_checkpoint_freq: 8
  use_tb_logger: true
  wandb:
    project: ~
    resume_id: ~
dist_params:
  backend: nccl
  port: 29500
""")


def _decode(data, _=None):
    return numpy.asarray(Image.open(io.BytesIO(bytes(data))).convert("RGB"))[..., ::-1].copy()


def _flip(picture, axis, out=None):
    turned = numpy.flip(picture, 1 if axis == 1 else 0).copy()
    if out is not None:
        out[...] = turned
    return turned


modules.put(
    "cv2", imdecode=_decode, flip=_flip, cvtColor=lambda picture, _: picture[..., ::-1].copy(), IMREAD_COLOR=1,
    IMREAD_GRAYSCALE=0, IMREAD_UNCHANGED=-1,
)  # fmt: skip
sys.modules["scipy.ndimage.filters"] = scipy.ndimage
for _name in ("dcn.deform_conv_ext", "fused_act.fused_act_ext", "upfirdn2d.upfirdn2d_ext"):
    sys.modules[f"basicsr.models.ops.{_name}"] = types.ModuleType(_name)
