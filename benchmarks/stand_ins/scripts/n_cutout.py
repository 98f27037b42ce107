"""The script writes into two folders that a clone has."""

import os

os.makedirs("logs", exist_ok=True)
os.makedirs("checkpoints", exist_ok=True)
