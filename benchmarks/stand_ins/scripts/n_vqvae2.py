"""Batches of 128 are written into the script; it wants two folders."""

import os

import made_up_data

made_up_data.smaller_batches(8)
os.makedirs("checkpoint", exist_ok=True)
os.makedirs("sample", exist_ok=True)
