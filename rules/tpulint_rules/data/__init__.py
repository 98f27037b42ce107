"""Loading data.

The device is fed by the host. Batches of changing size recompile the step, a loader that works in the training process
leaves the device waiting, and options made for copying to a GPU do nothing.
"""
