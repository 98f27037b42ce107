"""Environment.

Environment variables, launchers, packages, images and job requests: what stands in the shell scripts, Dockerfiles and
lists of packages around a training script. These rules know one file at a time. Where only its surroundings could
decide, a file is left alone that shows nothing of torch, that serves TPUs already, or whose name says that it is the
variant for GPUs. So are branches of a script that test for a kind of hardware.
"""
