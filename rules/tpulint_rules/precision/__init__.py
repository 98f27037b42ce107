"""Precision: autocast, loss scaling, dtypes.

TPUs compute in bfloat16, which has the range of float32: no loss scaling is needed, and float16 has no place. Much of
a GPU script's mixed precision does nothing on an XLA device, without any message. These rules find what was meant to
set the precision and no longer does.
"""
