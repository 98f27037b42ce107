"""Watches a training script from the inside of its process, for ``tpulint verify``. No script imports it.

The script is run as ``__main__`` and never edited. What is seen is written at once, one JSON object per line, so that a
process that is killed leaves what it did until then. The counters of torch_xla are read through the module that it has
loaded itself: a script that never imports torch_xla does not get it from here.
"""
