"""Further ways in which programs repeat themselves, as made_loops has them: those that do more than one thing in turns."""
from made_loops import KINDS, apart, body, close, start_up


def run(p, ops, stream=7):
    for name in ops:
        p.kernel(name, stream)


def uneven(p, rng):
    """Accumulation over as many micro-batches as fit: two to five."""
    micro, tail = body(rng, rng.randint(20, 80)), body(rng, rng.randint(2, 12), "o")
    start_up(p, rng)
    p.micro = []
    for _ in range(rng.randint(30, 60)):
        for _ in range(rng.randint(2, 5)):
            p.copy(1, 10**5)
            run(p, micro)
            p.micro.append(p.latest)
        run(p, tail)
        close(p, rng, "read")
    p.others, p.or_none = [p.micro], True


def accumulated(p, rng):
    """Micro-batches with a loss each, then the optimizer, which is told by its name: a step is all of them."""
    k, style, read = rng.choice([2, 4, 5, 8]), rng.choice(["read", "wait", "ahead"]), rng.random() < 0.5
    micro = [*body(rng, rng.randint(10, 40)), "nll_loss_forward_kernel", "nll_loss_backward_kernel", *body(rng, rng.randint(10, 40), "b")]
    tail = [*body(rng, rng.randint(0, 5), "norm"), *["multi_tensor_apply_kernel"] * rng.randint(1, 4)]
    start_up(p, rng)
    for _ in range(rng.randint(24, 60)):
        for _ in range(k):
            p.copy(1, 10**5)
            run(p, micro)
            if read:
                p.copy(2, 4)
                p.wait()
        run(p, tail)
        close(p, rng, style)


def rollouts(p, rng):
    """Reinforcement learning: so many steps in an environment, each a small network and a read-back, then updates."""
    act, learn = body(rng, rng.randint(6, 20), "act"), body(rng, rng.randint(30, 70), "learn")
    gae, t, u = body(rng, rng.randint(3, 10), "gae"), rng.choice([8, 16, 32]), rng.choice([4, 8, 16])
    start_up(p, rng)
    p.acts, p.learns = [], []
    for _ in range(rng.randint(8, 16)):
        for _ in range(t):
            p.host(50000)
            p.copy(1, 4096)
            run(p, act)
            p.copy(2, 64)
            p.wait()
            p.acts.append(p.latest)
        run(p, gae)
        for _ in range(u):
            run(p, learn)
            p.learns.append(p.latest)
        close(p, rng, "read")
    p.others = [p.acts, p.learns]


def serving(p, rng):
    """Continuous batching: a token for whoever is there, and between tokens the prompt of somebody who comes."""
    token, prompt = body(rng, rng.randint(30, 90), "t"), body(rng, rng.randint(30, 90), "p")
    start_up(p, rng)
    for _ in range(rng.randint(100, 200)):
        if rng.random() < 0.12:
            p.copy(1, rng.randint(1000, 10000))
            run(p, prompt)
        p.copy(1, 256)
        run(p, token)
        close(p, rng, "read")


def chunks(p, rng):
    """Pieces of a large array on streams in turns: in, compute, out."""
    ops, n = body(rng, rng.randint(1, 4)), rng.choice([2, 3, 4])
    start_up(p, rng)
    for i in range(rng.randint(20, 40) * n):
        p.copy(1, 10**6, 20 + i % n)
        run(p, ops, 20 + i % n)
        p.copy(2, 10**6, 20 + i % n)
        p.step()
    p.wait()
    p.also = n


def resident(p, rng):
    """All data are on the device; the loss is read in every step; a validation after every so many, which is no step's time."""
    forth, back = body(rng, rng.randint(5, 15)), body(rng, rng.randint(8, 25), "b")
    metric, every, times = body(rng, rng.randint(1, 3), "m"), rng.randint(10, 25), rng.randint(3, 8)
    start_up(p, rng)
    for i in range(every * rng.randint(3, 24)):
        run(p, forth + back)
        close(p, rng, "read")
        if i % every == every - 1:
            for _ in range(times):
                run(p, forth + metric)
            p.copy(2, 8)
            p.wait()
    p.others = [apart(p.ends, every)]  # or all time, where the validation is much of the program


def looked_up(p, rng):
    """All data are on the device, and each step looks its batch up there; nobody waits but at an epoch's end, behind a
    validation, which is no step's time."""
    look, forth = ["vectorized_gather_kernel"], body(rng, rng.randint(5, 15))
    back, every = [*body(rng, rng.randint(8, 25), "b"), "multi_tensor_apply_kernel"], rng.randint(20, 100)
    metric, times = body(rng, rng.randint(1, 3), "m"), rng.randint(3, 20)
    start_up(p, rng)
    for epoch in range(rng.randint(4, 6)):
        for _ in range(every):
            run(p, look + forth + back)
            p.step()
        for _ in range(times):
            run(p, look + forth + metric)
        p.copy(2, 8)
        p.wait()
    p.others = [p.ends]
    p.ends = apart(p.ends, every)


def epochs_of(p, rng, every, times, between, style):
    """Epochs, each so many steps, then so many batches of a validation, and `between`."""
    forth, back = body(rng, rng.randint(6, 15)), body(rng, rng.randint(25, 50), "b") + body(rng, 3, "adam")
    metric = body(rng, rng.randint(0, 3), "m")
    start_up(p, rng)
    epochs = rng.randint(3, 8)
    for epoch in range(epochs):
        for i in range(every):
            p.copy(1, 10**5)
            run(p, forth + back)
            close(p, rng, style if i + 1 < every else "read")
        for _ in range(times() if epoch + 1 < epochs else 0):
            p.copy(1, 10**5)
            run(p, forth + metric)
            p.copy(2, 8)
            p.wait()
        between()
    p.ends = apart(p.ends, every)
    return forth


def trained(p, rng):
    """Epochs with a validation and a checkpoint behind each: weights to the host, and a file is written."""
    tensors, write = rng.randint(0, 30), rng.choice([10**6, 3 * 10**7, 2 * 10**8])

    def checkpoint():
        for _ in range(tensors):
            p.copy(2, 10**5)
        p.wait()
        p.host(write)

    every = rng.choice([30, 60, 100])
    times = rng.randint(7, every // 3)
    epochs_of(p, rng, every, lambda: times, checkpoint, rng.choice(["read", "ahead"]))


def tested(p, rng):
    """Epochs with validations of several lengths, and another loop behind all of them."""
    forth = epochs_of(p, rng, rng.choice([40, 80]), lambda: rng.randint(5, 15), lambda: p.host(10**6), "read")
    for _ in range(30):
        p.copy(1, 2 * 10**5)
        run(p, forth + ["softmax_test", "argmax_test"])
        p.copy(2, 64)
        p.wait()


def short_epochs(p, rng):
    """Epochs of few steps."""
    times = rng.randint(4, 6)
    epochs_of(p, rng, rng.randint(12, 18), lambda: times, lambda: None, "read")


def seldom(p, rng):
    """A small network and an optimizer, a loss that is printed every so many steps."""
    ops, k = [*body(rng, rng.randint(14, 60)), "multi_tensor_apply_kernel"], rng.choice([5, 10, 20, 50, 100])
    log = body(rng, rng.randint(0, 3), "l")
    start_up(p, rng)
    for i in range(rng.randint(15, 30) * k):
        run(p, ops)
        if i % k == k - 1:
            run(p, log)
            p.copy(2, 4)
            p.wait()
        p.step()


def stages(p, rng):
    """A solver's four equal stages and an update; its state is written now and then."""
    stage, update, every = body(rng, rng.randint(3, 12)), body(rng, rng.randint(1, 4), "u"), rng.choice([25, 50])
    start_up(p, rng)
    for i in range(rng.randint(100, 300)):
        run(p, stage * 4 + update)
        if i % every == every - 1:
            p.copy(2, 10**6)
            p.wait()
        p.step()


def multigrid(p, rng):
    """Cycles down the levels and up again: the same kernels on smaller and smaller grids."""
    levels, smooth, tail = rng.randint(3, 8), body(rng, rng.randint(1, 3), "s"), body(rng, rng.randint(1, 3), "norm")
    start_up(p, rng)
    for _ in range(rng.randint(20, 80)):
        down = [(level, name) for level in range(levels) for name in smooth * 2 + ["residual", "restrict"]]
        up = [(level, name) for level in reversed(range(levels)) for name in ["prolong"] + smooth * 2]
        for level, name in down + up:
            p.kernel(name, 7, 1000 + 80000 / 4**level)
        run(p, tail)
        close(p, rng, rng.choice(["read", "ahead"]))


KINDS.update({k.__name__: k for k in (uneven, accumulated, rollouts, serving, chunks, resident, looked_up, trained, tested, short_epochs, seldom, stages, multigrid)})
