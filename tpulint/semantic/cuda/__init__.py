"""Code for CUDA: what it asks for, what it guards, and what is left alone because no other backend has it."""
