"""Programs as people write them, in pairs: what is measured is not tuned for anybody.

    pairs.py PAIR VARIANT [--steps N] [--warmup W] [--plain] [--clock]

PAIR       compile       PyTorch eager; torch.compile(mode="reduce-overhead"), which replays CUDA graphs
           dataloader    a DataLoader that decodes in the training process; with workers and pinned memory
           item          loss.item() in every step; the losses added up on the GPU
           precision     fp32; bf16 autocast
           jax           JAX, reads the loss back in every step; every hundredth
           cupy          CuPy, a power iteration with a read-back in every step; without
           trainer       Hugging Face's Trainer, a small random BERT; logs in every step; every hundredth
           buckets       DDP on two GPUs (under torchrun): buckets of 1 MB; of 25 MB
VARIANT    baseline or fixed
--plain    without NVTX ranges: a loop that nobody marked
--clock    drains the GPU before step W and after the last one and prints the time between, the truth that a stopwatch is
           held against; without it the program never waits for more than it needs

Prints one line of JSON: pair, variant, steps, warmup, step_ms (null without --clock), and a checksum of the result."""

import argparse
import contextlib
import json
import os
import time


class Clock:
    """Time between two moments at which the GPU has nothing left to do."""

    def __init__(self, options, drain):
        self.options, self.drain, self.begin, self.end = options, drain, 0.0, 0.0

    def before(self, i):
        if self.options.clock and i == self.options.warmup:
            self.drain()
            self.begin = time.perf_counter()

    def done(self):
        if self.options.clock:
            self.drain()
            self.end = time.perf_counter()

    def step_ms(self):
        n = self.options.steps - self.options.warmup
        return (self.end - self.begin) / n * 1e3 if self.options.clock else None


def marks(options):
    """A context manager for a named range, or nothing."""
    if options.plain:
        return lambda name: contextlib.nullcontext()
    import nvtx_ranges

    return nvtx_ranges.marked


# ---- PyTorch ----


def network(torch, width, depth):
    layers = []
    for _ in range(depth):
        layers += [torch.nn.Linear(width, width), torch.nn.GELU(), torch.nn.LayerNorm(width)]
    return torch.nn.Sequential(*layers, torch.nn.Linear(width, 10)).cuda()


def train(options, width, depth, batch, fast, compiled=False, amp=False, item=False, data=None, wrap=None):
    import torch

    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = False
    mark = marks(options)
    model = network(torch, width, depth)
    run = wrap(model) if wrap else torch.compile(model, mode="reduce-overhead") if compiled else model
    optimiser = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    clock = Clock(options, torch.cuda.synchronize)
    fixed_x, fixed_y = torch.randn(batch, width, device="cuda"), torch.randint(0, 10, (batch,), device="cuda")
    batches = iter(data()) if data else None
    total, seen = torch.zeros((), device="cuda"), 0.0
    for i in range(options.steps):
        clock.before(i)
        if compiled:
            torch.compiler.cudagraph_mark_step_begin()  # the last step's outputs may be overwritten
        with mark("step"):
            if batches:
                with mark("data_load"):
                    x, y = next(batches)
                    x, y = x.cuda(non_blocking=fast), y.cuda(non_blocking=fast)
            else:
                x, y = fixed_x, fixed_y
            with mark("forward"), torch.autocast("cuda", torch.bfloat16, enabled=amp):
                loss = torch.nn.functional.cross_entropy(run(x), y)
            with mark("backward"):
                loss.backward()
            with mark("optimizer"):
                optimiser.step()
                optimiser.zero_grad()
            if item:
                seen += loss.item()
            else:
                total += loss.detach()
    clock.done()
    return clock.step_ms(), seen + total.item()


def compile_pair(options, fast):
    return train(options, 512, 12, 64, fast, compiled=fast)


class Images:
    """Samples that cost the host something to decode."""

    def __init__(self, n, width):
        self.n, self.width = n, width

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        import torch

        raw = torch.arange(self.width, dtype=torch.float32) * (i % 17 + 1)
        for _ in range(4):
            raw = torch.sin(raw) + raw.roll(1)
        return raw, i % 10


def dataloader(options, fast):
    import torch

    torch.set_num_threads(1)
    batch, width = 64, 1024

    def data():
        more = {"num_workers": 4, "pin_memory": True, "prefetch_factor": 4} if fast else {}
        return torch.utils.data.DataLoader(Images(options.steps * batch, width), batch_size=batch, **more)

    return train(options, width, 6, batch, fast, data=data)


def item(options, fast):
    return train(options, 1024, 8, 256, fast, item=not fast)


def precision(options, fast):
    return train(options, 4096, 8, 2048, fast, amp=fast)


def buckets(options, fast):
    import torch
    import torch.distributed as distributed

    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    distributed.init_process_group("nccl")

    def wrap(model):
        return torch.nn.parallel.DistributedDataParallel(model, device_ids=[rank], bucket_cap_mb=25 if fast else 1)

    result = train(options, 2048, 16, 512, fast, wrap=wrap)
    distributed.destroy_process_group()
    return result if rank == 0 else None


# ---- the others ----


def trainer(options, fast):
    import tempfile

    import torch
    import transformers

    torch.manual_seed(1)
    sizes = {"hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4, "intermediate_size": 1024}
    model = transformers.BertForSequenceClassification(transformers.BertConfig(vocab_size=1000, **sizes))
    tokens = [{"input_ids": torch.randint(0, 1000, (64,)), "labels": i % 2} for i in range(512)]
    clock = Clock(options, torch.cuda.synchronize)
    mark = marks(options)

    class Watch(transformers.TrainerCallback):
        step = None

        def on_step_begin(self, args, state, control, **rest):
            clock.before(state.global_step)
            self.step = mark("step")
            self.step.__enter__()

        def on_step_end(self, args, state, control, **rest):
            self.step.__exit__(None, None, None)

        def on_train_end(self, args, state, control, **rest):
            clock.done()

    with tempfile.TemporaryDirectory() as folder:
        arguments = transformers.TrainingArguments(
            folder, max_steps=options.steps, per_device_train_batch_size=32, report_to=[], save_strategy="no",
            logging_steps=100 if fast else 1, disable_tqdm=True)
        with open(os.devnull, "w", encoding="utf-8") as nothing, contextlib.redirect_stdout(nothing):
            done = transformers.Trainer(model, arguments, train_dataset=tokens, callbacks=[Watch()]).train()
    return clock.step_ms(), done.training_loss


def jax_pair(options, fast):
    import jax
    import jax.numpy as jnp

    mark = marks(options)
    weights = [jax.random.normal(jax.random.PRNGKey(i), (512, 512)) * 0.05 for i in range(8)]
    x = jax.random.normal(jax.random.PRNGKey(99), (256, 512))

    def loss_of(weights, x):
        for w in weights:
            x = jnp.tanh(x @ w)
        return jnp.mean(x * x)

    @jax.jit
    def step(weights, x):
        loss, slopes = jax.value_and_grad(loss_of)(weights, x)
        return [w - 0.01 * g for w, g in zip(weights, slopes)], loss

    clock = Clock(options, lambda: jax.block_until_ready(weights))
    seen = 0.0
    for i in range(options.steps):
        clock.before(i)
        with mark("step"):
            weights, loss = step(weights, x)
            if not fast or i % 100 == 99:
                seen = float(loss)
    clock.done()
    return clock.step_ms(), seen


def cupy_pair(options, fast):
    import cupy

    mark = marks(options)
    rng = cupy.random.RandomState(1)
    matrix, vector = rng.standard_normal((1500, 1500), dtype=cupy.float32), cupy.ones(1500, dtype=cupy.float32)
    clock = Clock(options, cupy.cuda.runtime.deviceSynchronize)
    norm = 0.0
    for i in range(options.steps):
        clock.before(i)
        with mark("step"):
            for _ in range(4):
                vector = matrix @ vector
                vector = vector / cupy.linalg.norm(vector)
            if not fast:
                norm = float(cupy.abs(vector).max())
    clock.done()
    return clock.step_ms(), float(cupy.abs(vector).max()) + 0 * norm


PAIRS = {"compile": compile_pair, "dataloader": dataloader, "item": item, "precision": precision, "jax": jax_pair,
         "cupy": cupy_pair, "trainer": trainer, "buckets": buckets}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pair", choices=PAIRS)
    parser.add_argument("variant", choices=["baseline", "fixed"])
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--warmup", type=int, default=20)
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--clock", action="store_true")
    options = parser.parse_args()
    result = PAIRS[options.pair](options, options.variant == "fixed")
    if result:
        print(json.dumps({"pair": options.pair, "variant": options.variant, "steps": options.steps,
                          "warmup": options.warmup, "step_ms": result[0], "checksum": round(result[1], 3)}))


if __name__ == "__main__":
    main()
