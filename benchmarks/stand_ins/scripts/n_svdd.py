"""The script wants its folders to be there."""

import os

os.makedirs("out", exist_ok=True)
os.makedirs("data", exist_ok=True)
