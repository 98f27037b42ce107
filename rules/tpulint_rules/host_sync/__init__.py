"""Host synchronisation: values read from the device.

On an XLA device operations are recorded, compiled and run later, as a graph. Reading a value, such as a loss to print,
forces what was recorded so far to run and makes Python wait for it. In the middle of a step it costs even more: the
graph is cut, and the step boundary later runs the whole step again, the part already run included. These rules find
reads that happen in every step and move them behind the step boundary, or onto the device.
"""
