"""What the processor has that code of ours asks for."""

from llvmlite.binding import get_host_cpu_features

AVX512 = bool(get_host_cpu_features().get("avx512f"))  # vectors of 16 float32, and 32 registers for them
