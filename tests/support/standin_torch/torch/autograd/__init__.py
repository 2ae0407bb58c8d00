from torch.cuda.nvtx import _note


def backward(tensor):
    _note("run backward")
