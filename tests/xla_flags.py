"""Programs that tests run once or a few times: compiling is what takes time."""

QUICKLY = (
    "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true --xla_cpu_multi_thread_eigen=false"
)
"""For ``XLA_FLAGS``: what is computed is looked at, not how fast."""
