"""More pairs in the spirit of real fixes, and of what looks like one, for check_real_pairs.py.

What made_real_pairs.py has not: other ways for bytes to go, peers that are waited for, loops that wait for a clock, work
that two changes hide from each other, recordings that end early or that another process shares.
"""
from made_real_pairs import *  # noqa: F403: its programs, Pair, of

SUM = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(P)"
DISPATCH, COMBINE = "void deep_ep::intranode::dispatch<8, 768, 8192>(P)", "void deep_ep::intranode::combine<__nv_bfloat16, 8>(P)"
EVERYTHING = ("KERNEL", "RUNTIME", "MEMCPY", "MEMSET", "NVTX")
ALL = None


def waiting_for_peers(p, steps, wait, data=600 * US):
    """Data parallel: the reduction ends when the slowest rank has come, which is another one."""
    for _ in range(steps):
        p.begin("step")
        phase(p, "data", load, 150 * US)
        phase(p, "forward", forward, 5)
        p.begin("backward")
        backward(p, 5)
        p.free[7] = max(p.free[7], p.kernel(SUM, data + wait, 24, 20, p.free[7]))
        p.end()
        phase(p, "optimizer", adam)
        p.finish(4)


def experts(p, steps, beside):
    """Tokens go to their experts and back, on the stream of the work or beside that of the other half of the batch."""
    for _ in range(steps):
        p.begin("step")
        phase(p, "data", load, 100 * US)
        for _ in range(8):
            for half_of in range(2):
                stream = 20 + half_of if beside else 7
                sent = p.kernel(DISPATCH, 120 * US, 24, stream, p.free.get(7, 0))
                p.kernel("grouped_gemm(half*)", 240 * US, 528, 7, 0 if beside else sent)
                p.kernel(COMBINE, 140 * US, 24, stream, p.free[7])
        p.sync()
        p.finish()


def zeroed(p, steps, to_none, tensors=60):
    """zero_grad() fills each gradient by a memset."""
    for _ in range(steps):
        p.begin("train_step")
        phase(p, "data", load, 100 * US)
        p.begin("zero_grad")
        for _ in range(0 if to_none else tensors):
            p.memset(1 << 22, 14 * US)
        p.end()
        phase(p, "forward", forward, 5)
        phase(p, "backward", backward, 5)
        phase(p, "optimizer", adam)
        p.finish(4)


def concatenated(p, steps, in_place, way=8):
    """Buffers are copied on the device (8) or from the other one (10), or are where they are needed."""
    for _ in range(steps):
        p.begin("step")
        p.host(100 * US)
        p.copy(1, 1 << 20)
        for _ in range(6):
            forward(p, 1)
            if not in_place:
                p.between(32 << 20, way)
        p.finish(4)


def features(p, steps, pinned, out=1 << 20, back_pinned=True, size=16 << 20):
    """A batch from pageable or pinned memory; results back into either."""
    for _ in range(steps):
        p.begin("step")
        p.host(150 * US)
        p.copy(1, size, pinned=pinned)
        forward(p, 5)
        p.copy(2, out, pinned=back_pinned)
        p.finish()


def swapped(p, steps, fixed):
    """Weights are swapped in from the host in each step; then activations are swapped out instead."""
    for _ in range(steps):
        p.begin("step")
        p.host(100 * US)
        p.copy(1, (4 if fixed else 24) << 20)
        forward(p, 5)
        p.copy(2, (24 if fixed else 4) << 20)
        p.finish()


def paced(p, frames_, network, period=8 * MS):
    """A camera: a frame every 8 ms, whatever the network takes."""
    due = p.now
    for _ in range(frames_):
        due += period
        p.now = max(p.now, due)
        p.begin("frame")
        p.copy(1, 2 << 20)
        for _ in range(network):
            p.kernel("conv3x3(half*)", 60 * US, 512)
        p.copy(2, 2048)
        p.finish()


def tuned(p, steps, search):
    """cudnn.benchmark: kernels are tried out in the first steps, the best is kept."""
    for i in range(steps):
        p.begin("train_step")
        phase(p, "data", load, 100 * US)
        p.begin("forward")
        for k in range(6):
            if search and i == 0:
                for name in range(8):
                    p.kernel(f"cudnn_candidate_{name}(float*)", (200 + 40 * name) * US, 512)
            p.kernel("cudnn_winograd(float*)" if search else "cudnn_implicit_gemm(float*)", (140 if search else 260) * US, 512)
            p.kernel(ACT, 20 * US, 2048)
        p.end()
        phase(p, "backward", backward, 6)
        phase(p, "optimizer", adam)
        p.finish(4)


def scaled_loss(p, steps, skipped):
    """A gradient scaler that skips the optimizer where gradients overflow: in every `skipped`th step."""
    for i in range(steps):
        step_of(p, opt=not (skipped and i % skipped == skipped - 1))


def clipped(p, steps, foreach):
    for _ in range(steps):
        p.begin("train_step")
        phase(p, "data", load, 100 * US)
        phase(p, "forward", forward, 5)
        phase(p, "backward", backward, 5)
        p.begin("clip")
        if foreach:
            p.kernel("multi_tensor_l2norm(TL)", 40 * US, 320)
            p.kernel("multi_tensor_scale(TL)", 30 * US, 320)
        else:
            for _ in range(90):
                p.kernel("void reduce_kernel<512, 1, NormOp>(R)", 6 * US, 32)
                p.kernel("void vectorized_elementwise_kernel<4, MulScalar>(int)", 5 * US, 64)
        p.end()
        phase(p, "optimizer", adam)
        p.finish(4)


def logged(p, steps, every):
    """Metrics are read back and written now and then."""
    for i in range(steps):
        p.begin("train_step")
        phase(p, "data", load, 100 * US)
        phase(p, "forward", forward, 5)
        phase(p, "backward", backward, 5)
        phase(p, "optimizer", adam)
        if i % every == every - 1:
            p.begin("log")
            p.copy(2, 4)
            p.host(6 * MS)
            p.end()
        p.sync()
        p.finish()


def cached(p, tokens, cache):
    """Text of 48 tokens per call, each token computed with or without what the ones before it left."""
    for _ in range(tokens // 48 or 1):
        p.begin("generate")
        p.copy(1, 4096)
        for t in range(48):
            p.host(150 * US)
            for _ in range(6):
                p.kernel("gemm_qkv(half*)", (20 if cache else 20 + 2 * t) * US, 64 if cache else 64 + 8 * t)
                p.kernel("attention(half*)", (10 if cache else 10 + t) * US, 32 if cache else 32 + 4 * t)
            p.kernel("sample(float*)", 8 * US, 8)
            p.copy(2, 4)
        p.finish()


def both_ways(p, steps, fixed):
    """The forward pass got faster by as much as the backward pass got slower."""
    for _ in range(steps):
        p.begin("train_step")
        phase(p, "data", load, 100 * US)
        phase(p, "forward", forward, 6, 0.6 if fixed else 1.0)
        phase(p, "backward", backward, 6, 1.3 if fixed else 1.0)
        p.finish(4)


def wait_moved(p, steps, late):
    """The same wait for the GPU and the same host work, in the data phase or at the end of the step."""
    for _ in range(steps):
        p.begin("train_step")
        p.begin("data")
        if not late:
            p.host(2500 * US)
        p.copy(1, 1 << 20)
        p.end()
        phase(p, "forward", forward, 5)
        phase(p, "backward", backward, 5)
        p.begin("metrics")
        p.copy(2, 4)
        if late:
            p.host(2500 * US)
        p.end()
        p.finish()


def contended(p, steps, beside):
    """Reduced beside the backward pass, whose kernels then get fewer multiprocessors: a third of what is gained is lost."""
    for _ in range(steps):
        p.begin("step")
        phase(p, "forward", forward, 6)
        p.begin("backward")
        backward(p, 6, 1.25 if beside else 1.0)
        end = p.kernel(SUM, 2600 * US, 24, 20, 0 if beside else p.free[7])
        p.end()
        p.free[7] = max(p.free[7], end)
        phase(p, "optimizer", adam)
        p.sync()
        p.finish()


def half_shared(p, steps, shared):
    """12 layers, or 6 that each run twice: the same kernels."""
    training(p, steps, layers=12)


def early_exit(p, steps, every):
    """Inputs that are easy leave the network after a third of its layers."""
    for i in range(steps):
        step_of(p, layers=4 if every and i % every == 0 else 12, back=False, opt=False)


def heavier(p, steps):
    """Twice the batch in as many blocks; the optimizer does what it did."""
    for _ in range(steps):
        p.begin("train_step")
        phase(p, "data", load, 500 * US, 16)
        p.clock *= 2
        phase(p, "forward", forward, 6)
        phase(p, "backward", backward, 6)
        p.clock /= 2
        phase(p, "optimizer", adam)
        p.finish(4)


def tenant(p):
    """Another process works on the GPU all the time."""
    first, last = p.rows["KERNEL"][0][0], p.rows["KERNEL"][-1][1]
    for i, at in enumerate(range(first, last, 400 * US)):
        p.rows["KERNEL"].append((at, at + 250 * US, 0, 9, 7, 900000 + i, 2 * PID, "crypto_hash(uint*)", "crypto_hash", 640, 128))
        p.rows["RUNTIME"].append((at - 9 * US, at - 5 * US, 0, 2 * PID + 78, 900000 + i, "cudaLaunchKernel_v7000", 0))


def cut_at(share):
    return lambda p: p.lose(EVERYTHING, share, 2)


def renamed_marks(p, steps, name):
    step = "iteration" if name else "train_step"
    training(p, steps, name=step)


def saved_aside(p, steps, aside):
    """A checkpoint every 12 steps: written at once, or by a thread that copies what was read back."""
    for i in range(steps):
        if i % 12 == 11:
            p.begin("save")
            p.copy(2, 48 << 20, pinned=True)
            p.host(300 * US if aside else 9 * MS)
            p.end()
        step_of(p)


def migrated(p, steps, prefetched):
    """Unified memory that the GPU faults in page by page, or that is brought before it is needed."""
    for _ in range(steps):
        p.begin("step")
        p.host(100 * US)
        if prefetched:
            p.copy(1, 24 << 20)
        else:
            for _ in range(24):
                p.migrate(1 << 20, 11)
        forward(p, 6)
        p.finish(4)


def offloaded(p, steps, to_host, behind=False):
    """The optimizer on the device, or on the host: gradients are read back, and weights copied in; or, where steps end
    with the optimizer's, as gapline marks them, behind that."""
    for _ in range(steps):
        p.begin("gapline: step" if behind else "train_step")
        if to_host and behind:
            p.copy(1, 24 << 20)
        phase(p, "data", load, 100 * US)
        phase(p, "forward", forward, 6)
        phase(p, "backward", backward, 6)
        p.begin("optimizer")
        if to_host:
            p.copy(2, 24 << 20)
            p.host(3 * MS)
        else:
            adam(p)
        if to_host and not behind:
            p.copy(1, 24 << 20)
        p.end()
        p.finish(0 if behind else 4)


def reduced(p, steps, parts):
    """All-reduce by one kernel of NCCL or by two of others: (name, ns) each."""
    for _ in range(steps):
        p.begin("step")
        phase(p, "data", load, 100 * US)
        phase(p, "forward", forward, 5)
        phase(p, "backward", backward, 5)
        for name, ns in parts:
            p.free[7] = p.kernel(name, ns, 24, 20, p.free[7])
        phase(p, "optimizer", adam)
        p.finish(4)


def faster_than_launched(p, steps, ns):
    """120 kernels that take longer than their launches, or less."""
    for _ in range(steps):
        p.begin("step")
        p.host(50 * US)
        p.copy(1, 1 << 18)
        for _ in range(120):
            p.kernel("gather_rows(float*)", ns, 512)
        p.finish(4)


def frozen(p, steps, some):
    """Gradients of all weights, or of the last layers alone."""
    for _ in range(steps):
        p.begin("train_step")
        phase(p, "data", load, 100 * US)
        phase(p, "forward", forward, 6)
        phase(p, "backward", backward, 2 if some else 6)
        phase(p, "optimizer", adam, 8 if some else 24)
        p.finish(4)


def padded(p, steps, full):
    """Sentences of random length, filled up to the longest or packed."""
    for _ in range(steps):
        work = p.rng.choice([0.5, 0.75, 1, 1.25, 1.5])
        step_of(p, layers=5, work=1.5 if full else work, size=int((1.5 if full else work) * (1 << 20)))


def collected(p, steps, every):
    """Results are copied back in each step, or those of ten steps at once."""
    for i in range(steps):
        p.begin("step")
        p.host(100 * US)
        p.copy(1, 1 << 20)
        forward(p, 5)
        if i % every == every - 1:
            p.copy(2, (2 << 20) * every)
            p.host(200 * US)
        p.finish()


def half_overlapped(p, steps, apart):
    """Two thirds of the input are copied beside the work before."""
    for _ in range(steps):
        p.begin("step")
        p.host(100 * US)
        if apart:
            p.copy(1, 20 << 20, stream=9)
            p.copy(1, 10 << 20)
        else:
            p.copy(1, 30 << 20)
        forward(p, 5)
        p.sync(7)
        p.finish()


def quantized(p, steps, on):
    more = [("amax_kernel(float*)", 4 * US), ("cast_to_fp8(half*)", 5 * US)] if on else []
    for _ in range(steps):
        p.begin("train_step")
        phase(p, "data", load, 100 * US)
        phase(p, "forward", forward, 6, gemm="cutlass_fp8_gemm(P)" if on else GEMM, more=more)
        phase(p, "backward", backward, 6)
        phase(p, "optimizer", adam)
        p.finish(4)


def unsteady(p, steps, load_ns):
    """A host on which others work: each wait is another one."""
    for _ in range(steps):
        step_of(p, wait=load_ns * p.rng.choice([0.6, 0.8, 1, 1, 1.2, 2.4]))


FIXES = [
    Pair("the slowest rank of a job got faster", (of(waiting_for_peers, 2200 * US), of(waiting_for_peers, 200 * US)), {SAME}, {"comm_exposed"}),
    Pair("tokens go to experts beside the other half of the batch", (of(experts, False), of(experts, True)), {SAME, JOB}, {"comm_exposed"}, never={"fuse_or_compile"}),
    Pair("gradients are set to none: memsets are gone", (of(zeroed, False), of(zeroed, True)), {UNKNOWN}, {"copy_exposed:memset", "idle"}),
    Pair("no copies on the device", (of(concatenated, False), of(concatenated, True)), {UNKNOWN}, {"copy_exposed:d2d", "idle"}),
    Pair("no copies from the other device", (of(concatenated, False, 10), of(concatenated, True)), {UNKNOWN, DIFFERENT}, {"copy_exposed:p2p", "idle"}),
    Pair("input from pinned memory", (of(features, False), of(features, True)), {SAME}, {"copy_exposed:h2d"}),
    Pair("results into pinned memory", (of(features, True, 16 << 20, False, 1 << 20), of(features, True, 16 << 20, True, 1 << 20)), {SAME}, {"copy_exposed:d2h"}),
    Pair("as much is copied, the other way", (of(swapped, False), of(swapped, True)), {UNKNOWN, DIFFERENT, JOB}, set()),
    Pair("frames every 8 ms: a faster network", (of(paced, 80), of(paced, 50)), {DIFFERENT, UNKNOWN}, set(), 100),
    Pair("kernels are tried out, a faster one is kept", (of(tuned, False), of(tuned, True)), {JOB, UNKNOWN}, {"compute"}),
    Pair("the optimizer is skipped in every 4th step", (of(scaled_loss, 0), of(scaled_loss, 4)), {DIFFERENT, UNKNOWN}, ALL, 60),
    Pair("gradients are clipped by two kernels", (of(clipped, False), of(clipped, True)), {JOB, UNKNOWN}, {"compute"} | IDLE),
    Pair("metrics every 50 steps instead of every 5", (of(logged, 5), of(logged, 50)), {SAME, UNKNOWN}, {"idle"}, 100),
    Pair("what was computed before is kept", (of(cached, False), of(cached, True)), {DIFFERENT, UNKNOWN, JOB}, {"compute"}, 48 * 20),
    Pair("the forward pass got faster by what the backward pass got slower", (of(both_ways, False), of(both_ways, True)), {JOB, UNKNOWN, DIFFERENT}, ALL),
    Pair("host work moved from one phase into another", (of(wait_moved, False), of(wait_moved, True)), {SAME}, set()),
    Pair("reduced beside work that gets slower by it", (of(contended, False), of(contended, True)), {SAME, JOB, UNKNOWN}, {"comm_exposed"}),
    Pair("12 layers became 6, which run twice", (of(half_shared, False), of(half_shared, True)), {SAME}, set()),
    Pair("every second input leaves the network early", (of(early_exit, 0), of(early_exit, 2)), {DIFFERENT, UNKNOWN}, {"compute"} | IDLE, 80),
    Pair("kernels of persistent blocks: twice the batch, input on the device", (of(training, size=16), of(heavier)), {UNKNOWN, JOB, DIFFERENT}, {"compute"}),
    Pair("a clock lower by 8 %, the same program", (of(training), of(training)), {SAME}, set(), machine={"clock": (1, 1.08)}),
    Pair("the fixed profile ends early", (of(training), of(training)), {SAME}, set(), 60, edit=cut_at(0.6)),
    Pair("another process beside one side", (of(training), of(training)), {SAME, UNKNOWN}, set(), 60, doubt=True, edit=tenant),
    Pair("the steps have another name", (of(renamed_marks, ""), of(renamed_marks, "iteration")), {SAME}, set()),
    Pair("one side is marked, and micro-batches in it are not steps", (of(accumulate, every=0), of(accumulate, every=0)), {SAME}, set(), 40, (True, False)),
    Pair("checkpoints are written aside", (of(saved_aside, False), of(saved_aside, True)), {SAME, UNKNOWN}, {"idle"}, 96),
    Pair("unified memory is brought before it is needed", (of(migrated, False), of(migrated, True)), {UNKNOWN, JOB, SAME}, {"copy_exposed", "idle"}),
    Pair("all rows of one stretch are lost", (of(training), of(training)), {SAME, UNKNOWN}, set(), 60, doubt=True, edit=lambda p: p.lose(EVERYTHING, 0.3, 0.42)),
    Pair("the optimizer runs on the host", (of(offloaded, False), of(offloaded, True)), {UNKNOWN}, {"idle:host_code", "copy_exposed"}, finds={"host_before_copy"}),
    Pair("the optimizer runs on the host, and the step ends with it", (of(offloaded, False, True), of(offloaded, True, True)), {UNKNOWN}, {"idle:host_code", "copy_exposed"}, finds={"host_before_copy"}),
    Pair("the optimizer runs on the host, unmarked", (of(offloaded, False, True), of(offloaded, True, True)), {UNKNOWN}, {"idle:host_code", "copy_exposed"}, 60, (False, False), finds={"host_before_copy"}),
    Pair("another algorithm of the all-reduce", (of(reduced, [(SUM, 2400 * US)]), of(reduced, [("ncclDevKernel_AllReduce_Sum_f32_TREE_LL(P)", 1500 * US)])), {SAME, JOB}, {"comm_exposed"}),
    Pair("reduced and gathered instead of all-reduced", (of(reduced, [(SUM, 2400 * US)]), of(reduced, [("ncclDevKernel_ReduceScatter_Sum_f32_RING_LL(P)", 900 * US), ("ncclDevKernel_AllGather_RING_LL(P)", 700 * US)])),
         {SAME, JOB, UNKNOWN}, {"comm_exposed"}),
    Pair("kernels got faster than their launches", (of(faster_than_launched, 16 * US), of(faster_than_launched, 2 * US)), {JOB, UNKNOWN}, {"compute"}),
    Pair("gradients of the last layers alone", (of(frozen, False), of(frozen, True)), {DIFFERENT}, {"compute"}),
    Pair("sentences are packed, not filled up", (of(padded, True), of(padded, False)), {DIFFERENT, UNKNOWN}, {"compute"} | IDLE, 80),
    Pair("results of ten steps are copied back at once", (of(collected, 1), of(collected, 10)), {SAME, JOB, UNKNOWN}, {"idle", "copy_exposed"}, 100),
    Pair("two thirds of the input beside the work before", (of(half_overlapped, False), of(half_overlapped, True)), {SAME, JOB}, {"copy_exposed:h2d"}),
    Pair("products in 8 bits, with casts", (of(quantized, False), of(quantized, True)), {JOB, UNKNOWN}, ALL),
    Pair("input in half of the time, on an unsteady host", (of(unsteady, 2000 * US), of(unsteady, 1000 * US)), {SAME}, {"idle:host_code"}, 80),
    Pair("nothing, on an unsteady host", (of(unsteady, 2000 * US), of(unsteady, 2000 * US)), {SAME}, set(), 80),
    Pair("the slowest rank got slower", (of(waiting_for_peers, 200 * US), of(waiting_for_peers, 2200 * US)), {SAME}, {"comm_exposed"}),
    Pair("memsets are back", (of(zeroed, True), of(zeroed, False)), {UNKNOWN}, {"copy_exposed:memset", "idle"}),
    Pair("input from pageable memory again", (of(features, True), of(features, False)), {SAME}, {"copy_exposed:h2d"}),
]
