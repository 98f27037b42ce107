"""Devices and the CUDA API.

A training script for GPUs names its device in many places, and calls into ``torch.cuda`` beside them. On a TPU machine
``torch.cuda.is_available()`` is false, so such a script either fails at the first of these calls or, worse, trains on
the CPU without a word. The rules here find every place that decides where tensors live, or that asks the CUDA runtime
for something, and write what does the same on an XLA device.
"""
