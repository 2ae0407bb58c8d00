"""NVTX ranges from any Python program: PyTorch's where PyTorch is, else CuPy's, which JAX programs may use, too."""

import contextlib


def functions():
    import sys

    if "torch" in sys.modules:
        from torch.cuda import nvtx

        return nvtx.range_push, nvtx.range_pop
    import cupy.cuda.nvtx as nvtx

    return nvtx.RangePush, nvtx.RangePop


@contextlib.contextmanager
def marked(name):
    push, pop = functions()
    push(name)
    try:
        yield
    finally:
        pop()
