import time

import torch  # noqa: F401

time.sleep(600)
