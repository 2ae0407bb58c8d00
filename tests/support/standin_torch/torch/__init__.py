"""Plays PyTorch as far as gapline's ranges look at it: names, hooks and who calls whom are those of torch 2.11; nothing is
computed. NVTX calls are written to $STANDIN_NVTX, a line each."""

from torch import autograd, compiler, cuda, nn, optim, utils


class Tensor:
    def backward(self):
        autograd.backward(self)


def compile(model=None, **_):
    return model
