"""``tpulint verify``: runs a script on XLA in a process of its own, and tells what each of its lines cost there.

The process is observed from the inside by ``tpulint_runtime.observation``, which writes down what it sees; everything
here reads that, and needs no torch.
"""
