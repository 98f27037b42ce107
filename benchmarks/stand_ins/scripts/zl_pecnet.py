"""People who walk, in batches, who of them are near, and a small configuration."""

import pickle
from pathlib import Path

import numpy
import yaml

_chance = numpy.random.default_rng(0)
for _folder in ("../social_pool_data", "../saved_models"):
    Path(_folder).mkdir(exist_ok=True)
for _split, _batches, _size in (("train", 3, 6), ("test", 1, 8)):
    _steps = _chance.normal(size=(_batches, _size, 20, 4)).cumsum(axis=2)
    _near = (_chance.random((_batches, _size, _size)) < 0.4).astype("float64")
    _name = f"../social_pool_data/{_split}_all_{_size}_0_100.pickle"
    Path(_name).write_bytes(pickle.dumps((list(_steps), list(_near))))
Path("../config/made.yaml").write_text(yaml.safe_dump({
    "adl_reg": 1, "data_scale": 1.86, "dataset_type": "image", "dec_size": [16, 12], "dist_thresh": 100,
    "enc_dest_size": [8, 16], "enc_latent_size": [8, 10], "enc_past_size": [16, 12], "non_local_theta_size": [12, 8],
    "non_local_phi_size": [12, 8], "non_local_g_size": [12, 8], "non_local_dim": 8, "fdim": 6, "future_length": 12,
    "gpu_index": 0, "kld_reg": 1, "learning_rate": 0.0003, "mu": 0, "n_values": 3, "nonlocal_pools": 2,
    "normalize_type": "shift_origin", "num_epochs": 3, "num_workers": 0, "past_length": 8,
    "predictor_hidden_size": [16, 12], "sigma": 1.3, "test_b_size": 8, "time_thresh": 0, "train_b_size": 6, "zdim": 6,
}))  # fmt: skip
