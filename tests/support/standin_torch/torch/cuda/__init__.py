import os

from torch.cuda import nvtx

PEAKS = [int(peak) for peak in os.environ.get("STANDIN_PEAKS", "").split()]  # by device; none: CUDA was not used


def is_initialized():
    return bool(PEAKS)


def device_count():
    return len(PEAKS)


def max_memory_allocated(device):
    return PEAKS[device]

def make_graphed_callables(callables, samples):
    for one in callables if isinstance(callables, tuple) else (callables,):
        assert not one._before and not one._after, "Modules must not have hooks registered"
    return callables
