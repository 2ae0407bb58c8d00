"""Small traces of the PyTorch profiler whose step times can be worked out from their parameters, in the spellings of
2021, 2023 and 2026. With a size given, one as large as that, written as it is made.

    tiny_kineto.py FILE [MEGABYTES]
"""
import gzip
import json
import sys

SPELLINGS = {  # category of operators, annotations, calls, kernels, copies; whether it is an object
    2021: ("Operator", "Operator", "Runtime", "Kernel", "Memcpy", False),
    2023: ("cpu_op", "user_annotation", "cuda_runtime", "kernel", "gpu_memcpy", True),
    2026: ("cpu_op", "user_annotation", "cuda_runtime", "kernel", "gpu_memcpy", True),
}
BASE_NS = 1790857026000000000
START_US = {2021: 1606910596297023, 2023: 1694128201557000, 2026: 4320554080664}


def text_of(event, start, spelling):
    """ts has three decimals since 2024, which a double may not hold: it is written by hand."""
    ns = event.pop("ns")
    dur = event.pop("for_ns")
    line = json.dumps(event)[:-1]
    if spelling == 2026:
        return f'{line}, "ts": {start + ns // 1000}.{ns % 1000:03d}, "dur": {dur // 1000}.{dur % 1000:03d}}}'
    return f'{line}, "ts": {start + ns // 1000}, "dur": {dur // 1000}}}'


def events(steps, load_us, kernels=12, kernel_us=40, spelling=2026, padding=0):
    """Steps of: load_us in the data loader, then `kernels` kernels one after the other, half of them launched by
    backward's thread."""
    operator, annotation, call, kernel, copy, _ = SPELLINGS[spelling]
    at, correlation, pid, start = 0, 1, 945, START_US[spelling]

    def event(cat, name, ns, for_ns, tid=945, on=pid, **args):
        return text_of({"ph": "X", "cat": cat, "name": name, "pid": on, "tid": tid, "args": args, "ns": ns,
                        "for_ns": for_ns}, start, spelling)

    stream = "stream 7" if spelling == 2021 else 7
    for step in range(steps):
        load, work = load_us * 1000, kernels * kernel_us * 1000
        length = load + 20_000 + work + 20_000
        yield event(annotation, f"ProfilerStep#{step + 3}", at, length - 1000)
        yield event(annotation, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at + 1000, load - 2000)
        for i in range(kernels):
            begin, tid = at + load + 5000 + i * 4000, 945 if i < kernels // 2 else 966
            name = "aten::conv2d" if tid == 945 else "autograd::engine::evaluate_function: ConvolutionBackward0"
            shapes = {"Input Dims": [[64, 3, 224, 224]] * (1 + padding), "Ev Idx": correlation}
            yield event(operator, name, begin, 3500, tid, **shapes)
            for level in range(padding):
                yield event(operator, f"aten::inner_{level}", begin + 10 + level, 3000 - 20 * level, tid, **shapes)
            yield event(call, "cudaLaunchKernel", begin + 1000, 2000, tid, cbid=211, correlation=correlation)
            yield event(kernel, f"void gemm_{i}<float>(int)", at + load + 20_000 + i * kernel_us * 1000,
                        kernel_us * 1000 - 500, stream, 0, device=0, context=1, stream=7, correlation=correlation,
                        grid=[128, 1, 128], block=[256, 1, 1], queued=0)
            correlation += 1
        at += length


def write(path, steps=12, load_us=5000, spelling=2026, megabytes=0, **more):
    opener = gzip.open if str(path).endswith(".gz") else open
    is_object = SPELLINGS[spelling][5]
    with opener(path, "wt", encoding="utf-8") as out:
        size = out.write('{"schemaVersion": 1, "traceEvents": [\n' if is_object else "[\n")
        if megabytes:
            more["padding"], steps = 6, 1 << 40
        first = True
        for line in events(steps, load_us, spelling=spelling, **more):
            size += out.write(line if first else ",\n" + line)
            first = False
            if megabytes and size > megabytes << 20:
                break
        out.write("\n]")
        if is_object:
            tail = {"deviceProperties": [{"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150109880320, "numSms": 132}],
                    "distributedInfo": {"backend": "nccl", "rank": 1, "world_size": 2}, "traceName": "t.json"}
            if spelling == 2026:
                tail["baseTimeNanoseconds"] = BASE_NS
            out.write(", " + json.dumps(tail)[1:])


if __name__ == "__main__":
    write(sys.argv[1], megabytes=int(sys.argv[2]) if len(sys.argv) > 2 else 0)
