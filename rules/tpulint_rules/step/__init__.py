"""Steps and their boundaries.

A step boundary (``torch_xla.sync()``) is where the recorded work of a step is compiled and run. Without one the graph
grows with every step and is compiled anew each time; with too many, a step falls apart into pieces that cannot be
optimised together. These rules look at the training loop as a whole.
"""
