"""A small training loop: DataLoader workers are forked, backward runs on a thread of its own.

    train.py [STEPS [WORKERS]]
"""

import sys
import time

import torch
import torch.cuda.nvtx as nvtx
from torch.utils.data import DataLoader, Dataset


class Samples(Dataset):
    def __len__(self):
        return 64 * 64

    def __getitem__(self, i):
        return torch.full((256,), float(i % 7)), i % 10


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    workers = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10)).cuda()
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01)
    data = iter(DataLoader(Samples(), batch_size=64, num_workers=workers))
    took = []
    for i in range(steps):
        begin = time.perf_counter()
        with nvtx.range(f"step_{i}"):
            with nvtx.range("data_load"):
                x, y = next(data)
                x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)
            with nvtx.range("forward"):
                loss = torch.nn.functional.cross_entropy(model(x), y)
            with nvtx.range("backward"):
                loss.backward()
            with nvtx.range("optimiser"):
                optimiser.step()
                optimiser.zero_grad()
            torch.cuda.synchronize()
        took.append(time.perf_counter() - begin)
    print(f"{sorted(took)[len(took) // 2] * 1e3:.4f} ms a step, loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
