"""Programs in the spirit of real ones: training with accumulation, image generation, decoding, solvers, loaders that stall.

Each is f(host, steps, …) for a host of made_host.py, and marks its unit with host.units += 1. Pairs: made_real_pairs.py.
"""
from made_host import *  # noqa: F403

GEMM, ATTN, NORM, ACT = "ampere_sgemm_128x64_tn(P)", "flash_fwd_kernel(P)", "layer_norm_kernel(float*)", "gelu_kernel(float*)"


def forward(p, layers, work=1.0, gemm=GEMM, attn=ATTN, act=ACT, more=()):
    for _ in range(layers):
        p.kernel(NORM, 12 * US * work, int(256 * work))
        p.kernel(gemm, 90 * US * work, int(1024 * work))
        if attn:
            p.kernel(attn, 60 * US * work, int(512 * work))
        p.kernel(gemm, 110 * US * work, int(1536 * work))
        if act:
            p.kernel(act, 20 * US * work, int(2048 * work))
        for name, ns in more:
            p.kernel(name, ns, 64)


def backward(p, layers, work=1.0, gemm=GEMM, attn="flash_bwd_kernel(P)", recompute=False, act=ACT):
    for _ in range(layers):
        if recompute:
            p.kernel(gemm, 90 * US * work, int(1024 * work))
            p.kernel(act, 20 * US * work, int(2048 * work))
        p.kernel("gelu_backward_kernel(float*)", 25 * US * work, int(2048 * work))
        p.kernel(gemm, 200 * US * work, int(2048 * work))
        if attn:
            p.kernel(attn, 130 * US * work, int(1024 * work))
        p.kernel("layer_norm_backward_kernel(float*)", 25 * US * work, int(256 * work))


def adam(p, tensors=24, name="multi_tensor_apply_kernel(AdamFunctor)", ns=25 * US):
    for _ in range(tensors):
        p.kernel(name, ns, 320)


def phase(p, title, f, *args, **how):
    p.begin(title)
    f(p, *args, **how)
    p.end()


def load(p, ns, size=1 << 20, pinned=True):
    p.host(ns)
    p.copy(1, size, pinned=pinned)


def step_of(p, name="train_step", layers=6, wait=500 * US, size=1 << 20, work=1.0, recompute=False, loss=True, back=True, opt=True, **how):
    p.begin(name)
    phase(p, "data", load, wait, size)
    phase(p, "forward", forward, layers, work, **how)
    if back:
        phase(p, "backward", backward, layers, work, recompute=recompute, **{k: v for k, v in how.items() if k in ("gemm", "act")})
    if opt:
        phase(p, "optimizer", adam, **(opt if isinstance(opt, dict) else {}))
    if loss:
        p.copy(2, 4)
    p.finish()


def training(p, steps, **how):
    for _ in range(steps):
        step_of(p, **how)


def accumulate(p, steps, micro=4, attn=ATTN, every=10, names=("iteration", "micro"), validate=8, work=1.0):
    """Micro-batches, then the optimizer; a validation loop now and then."""
    for i in range(steps):
        p.begin(names[0])
        for _ in range(micro):
            p.begin(names[1])
            load(p, 200 * US)
            forward(p, 4, work, attn=attn)
            backward(p, 4, work)
            p.end()
        adam(p)
        p.finish(4)
        if every and i % every == every - 1:
            p.begin("validation")
            for _ in range(validate):
                load(p, 100 * US)
                forward(p, 4, work, attn=attn)
                p.copy(2, 4)
            p.end()


def diffusion(p, images, steps=20, guided=2, marks=True):
    """Text, then `steps` calls of the network per image, each for both branches of the guidance, then the decoder."""
    for _ in range(images):
        p.begin("image")
        p.host(400 * US)
        p.copy(1, 4096)
        for _ in range(6):
            p.kernel("text_attention(half*)", 20 * US, 96)
        for _ in range(steps):
            p.host(60 * US)
            for _ in range(guided):
                for _ in range(5):
                    p.kernel("conv2d_fprop(half*)", 80 * US * 2 / guided, 512 * 2 // guided)
                    p.kernel("cross_attention(half*)", 40 * US * 2 / guided, 256 * 2 // guided)
            p.kernel("scheduler_step(half*)", 8 * US, 64)
        for _ in range(4):
            p.kernel("vae_upsample(half*)", 150 * US, 2048)
        p.copy(2, 3 << 20)
        p.finish()


def decode(p, tokens, graph=False, layers=8, batch=None, sampler=250 * US, back=256):
    """One token per step for all requests at hand, whose number changes."""
    size = 16
    for _ in range(tokens):
        size = min(32, max(4, size + p.rng.choice([-1, 0, 0, 1]))) if batch is None else batch
        p.begin("decode_step")
        p.host(sampler)
        p.copy(1, 64 * size)
        if graph:
            p.graph(5, layers * (38 + size / 4) * US)
        else:
            for _ in range(layers):
                p.kernel("rms_norm(half*)", 4 * US, size)
                p.kernel("gemv_qkv(half*)", 14 * US, 128)
                p.kernel("paged_attention(half*)", (6 + size / 4) * US, 8 * size)
                p.kernel("gemv_mlp(half*)", 14 * US, 256)
        p.kernel("sample_top_p(float*)", 20 * US, size)
        p.copy(2, back)
        p.finish()


def stalls(p, steps, workers, loss=True):
    """The loader has `workers` batches ready at once, and then the loop waits for the next ones."""
    for i in range(steps):
        p.begin("train_step")
        p.begin("data")
        p.host(12 * MS / max(1, workers - 3) if i % workers == 0 else 80 * US)
        p.copy(1, 1 << 20)
        p.end()
        phase(p, "forward", forward, 4)
        phase(p, "backward", backward, 4)
        phase(p, "optimizer", adam)
        p.finish(4)


def solver(p, steps, inner=30, kernel="spmv_csr(double*)", ns=40 * US, warm=3, dot=True, read=True):
    """As a benchmark does: set up, warm up, then a loop of few kernels; nothing is marked."""
    p.copy(1, 64 << 20, pinned=False)
    for _ in range(warm):
        p.kernel("warm_up(double*)", 300 * US, 2048)
    p.sync()
    p.host(20 * MS)
    for _ in range(steps):
        p.kernel(kernel, ns, 2048)
        p.kernel("axpy(double*)", 12 * US, 1024)
        if dot:
            p.kernel("dot(double*)", 9 * US, 64)
            if read:
                p.copy(2, 8)
        p.units += 1
    p.sync()
    p.copy(2, 64 << 20, pinned=False)


def jit(p, steps, cached=False, each=40 * MS):
    for i in range(steps):
        if i < 6 and not cached:
            p.call("cuModuleLoadData", each)
        step_of(p, wait=200 * US)


def augment(p, steps, on_gpu):
    for _ in range(steps):
        p.begin("train_step")
        p.begin("data")
        p.host((300 if on_gpu else 2400) * US)
        p.copy(1, 1 << 20)
        if on_gpu:
            p.kernel("random_crop(uchar*)", 90 * US, 512)
            p.kernel("color_jitter(float*)", 160 * US, 512)
        p.end()
        phase(p, "forward", forward, 5)
        phase(p, "backward", backward, 5)
        phase(p, "optimizer", adam)
        p.finish(4)


def to_and_fro(p, steps, fixed):
    """Features go to the host and back between two halves of the network; then only one way is left, with more bytes."""
    for _ in range(steps):
        p.begin("step")
        p.host(200 * US)
        p.copy(1, 1 << 20)
        forward(p, 3)
        if not fixed:
            p.copy(2, 16 << 20, pinned=False)
        p.host(150 * US)
        p.copy(1, (24 if fixed else 16) << 20, pinned=False)
        forward(p, 3)
        p.finish(4)


def overlap(p, steps, own):
    """The next input is copied beside the work, on a stream of its own, or before it."""
    for _ in range(steps):
        p.begin("step")
        p.host(150 * US)
        if own:
            p.copy(1, 32 << 20, stream=9)
        else:
            p.copy(1, 32 << 20)
        forward(p, 6)
        p.sync(7)
        p.finish()


def reduce(p, steps, buckets, beside):
    """All gradients are reduced after the backward pass, or in buckets beside it. Peers take as long as we do."""
    for _ in range(steps):
        p.begin("step")
        phase(p, "data", load, 150 * US)
        phase(p, "forward", forward, 6)
        p.begin("backward")
        end = 0
        for i in range(buckets):
            for _ in range(6 // buckets or 1):
                backward(p, 1)
            if beside:
                end = p.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(P)", 1800 * US / buckets, 24, 20, p.free[7])
        if not beside:
            end = p.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(P)", 1800 * US, 24, 20, p.free[7])
        p.end()
        p.begin("optimizer")
        p.free[7] = max(p.free[7], end)
        adam(p)
        p.end()
        p.sync()
        p.finish()


def checkpoint(p, steps, every, ns):
    for i in range(steps):
        if every and i % every == every - 1:
            p.begin("save")
            p.copy(2, 48 << 20, pinned=False)
            p.host(ns)
            p.end()
        step_of(p)


def read_losses(p, steps, every):
    """loss.item() after every layer's metric, or now and then."""
    for i in range(steps):
        p.begin("train_step")
        phase(p, "data", load, 150 * US)
        p.begin("forward")
        for k in range(6):
            forward(p, 1)
            if i % every == 0:
                p.copy(2, 4)
                p.host(40 * US)
        p.end()
        phase(p, "backward", backward, 6)
        phase(p, "optimizer", adam)
        p.sync()
        p.finish()


def varying(p, steps, layers=5):
    """Sentences of random length: bytes, blocks and times differ from step to step."""
    for _ in range(steps):
        step_of(p, layers=layers, work=p.rng.choice([0.5, 0.75, 1, 1.25, 1.5]), size=int(p.rng.uniform(0.5, 1.5) * (1 << 20)))


def mixed(p, steps, gemm=GEMM, train=3):
    """Training and evaluation steps in turns, each marked."""
    for i in range(steps):
        if i % (train + 1) == train:
            step_of(p, "eval_step", back=False, opt=False, gemm=gemm)
            p.units -= 1
        else:
            step_of(p, "train_step", gemm=gemm)


def partly(p, steps, graph):
    """A graph, traced whole, for the forward pass; the rest is launched as before."""
    for _ in range(steps):
        p.begin("train_step")
        phase(p, "data", load, 100 * US)
        p.begin("forward")
        if graph:
            p.graph(3, 6 * 292 * US)
        else:
            forward(p, 6)
        p.end()
        phase(p, "backward", backward, 6)
        phase(p, "optimizer", adam)
        p.finish(4)


def collect(p, steps, every, ns=4 * MS):
    """The interpreter's garbage collector now and then."""
    for i in range(steps):
        if every and i % every == every // 2:
            p.host(ns)
        step_of(p, wait=100 * US)



def request(p, n, tokens=(20, 60), prefill=1.0, quantized=1.0, draft=0):
    """Prefill, then so many tokens; a request is the unit. With `draft`, four tokens are guessed by a small model and checked at once."""
    for _ in range(n):
        p.begin("request")
        p.host(300 * US)
        p.copy(1, 8192)
        for _ in range(6):
            p.kernel("gemm_prefill(half*)", 180 * US * prefill, int(1024 * prefill))
            p.kernel("flash_prefill(half*)", 90 * US * prefill, int(512 * prefill))
        left = p.rng.randint(*tokens)
        while left > 0:
            for _ in range(draft):
                p.kernel("gemv_draft(half*)", 9 * US, 64)
            for _ in range(6):
                p.kernel("gemv_decode(half*)", 22 * US * quantized, 256)
                p.kernel("paged_attention(half*)", 8 * US, 128)
            p.kernel("argmax(float*)", 6 * US, 8)
            p.copy(2, 4 * (1 + draft))
            p.host(30 * US)
            left -= 1 + (3 if draft else 0)
        p.finish()


def rollouts(p, n, envs_ns=1500 * US, updates=8, every=4):
    """Acting in an environment on the host, and learning in every fourth iteration."""
    for i in range(n):
        p.begin("iteration")
        for _ in range(10):
            p.host(envs_ns / 10)
            p.copy(1, 16384)
            p.kernel("policy_mlp(float*)", 18 * US, 64)
            p.copy(2, 512)
        if i % every == every - 1:
            p.begin("learn")
            for _ in range(updates):
                p.kernel("critic_forward(float*)", 60 * US, 256)
                p.kernel("critic_backward(float*)", 110 * US, 256)
                p.kernel("adam_small(float*)", 10 * US, 64)
            p.end()
        p.finish()


def waits(p, steps, each=False, layers=8):
    """A check of errors after every kernel, left in from debugging."""
    for _ in range(steps):
        p.begin("step")
        phase(p, "data", load, 120 * US)
        for _ in range(layers):
            for name, ns in ("conv_fprop(half*)", 45), ("batch_norm(float*)", 15), ("relu(float*)", 9):
                p.kernel(name, ns * US, 512)
                if each:
                    p.sync()
        p.sync()
        p.finish()


def allocate(p, steps, cached):
    """Buffers are allocated and freed in each step, or kept."""
    for _ in range(steps):
        p.begin("step")
        phase(p, "data", load, 100 * US)
        for _ in range(6):
            if not cached:
                p.call("cudaMalloc_v3020", 160 * US)
            forward(p, 1)
            if not cached:
                p.sync()
                p.call("cudaFree_v3020", 120 * US)
        p.finish(4)


def fused(p, steps, by_compiler):
    """Pointwise operations one by one, or as the compiler fused them."""
    for _ in range(steps):
        p.begin("train_step")
        phase(p, "data", load, 100 * US)
        for title in "forward", "backward":
            p.begin(title)
            for _ in range(8):
                p.kernel("cutlass_gemm(half*)", 70 * US, 768)
                if by_compiler:
                    p.kernel("triton_poi_fused_add_mul_gelu_0(P)", 16 * US, 1024)
                else:
                    for name in "add", "mul", "gelu", "dropout", "add":
                        p.kernel(f"void vectorized_elementwise_kernel<4, {name}>(int)", 9 * US, 1024)
            p.end()
        phase(p, "optimizer", adam)
        p.finish(4)


def streams(p, steps, two):
    """Two branches of a network one after the other, or on two streams."""
    for _ in range(steps):
        p.begin("step")
        p.host(60 * US)
        for _ in range(5):
            p.kernel("branch_a(float*)", 80 * US, 40, 7)
            p.kernel("branch_b(float*)", 80 * US, 40, 8 if two else 7)
        p.sync()
        p.finish()


def frames(p, n, skip=0, network=40):
    """A video: each frame is decoded on the host and goes through a network; frames in which nothing changed are skipped."""
    for i in range(n):
        p.begin("frame")
        p.host(900 * US)
        if not skip or i % skip:
            p.copy(1, 6 << 20)
            for _ in range(network):
                p.kernel("conv3x3(half*)", 55 * US, 512)
            p.copy(2, 2048)
        p.finish()


def sampled(p, steps, on_gpu):
    """Neighbours are sampled on the host and their features copied from pageable memory, or both on the device."""
    for _ in range(steps):
        p.begin("batch")
        if on_gpu:
            p.kernel("sample_neighbours(int*)", 120 * US, 512)
            p.kernel("gather_features(float*)", 140 * US, 1024)
        else:
            p.host(2500 * US)
            p.copy(1, 12 << 20, pinned=False)
        for _ in range(3):
            p.kernel("spmm(float*)", 200 * US, 2048)
            p.kernel("sgemm_nn(float*)", 120 * US, 512)
        p.finish(4)


def heating(p, steps, by=0.12):
    """The clock falls while the program runs."""
    clock = p.clock
    for i in range(steps):
        p.clock = clock * (1 + by * min(1, i / 40))
        step_of(p)
    p.clock = clock
