#!/usr/bin/env python3
"""What PyTorch's operators calculate and move, by the shapes of their inputs, beside what is worked out by hand, by PyTorch's own
counter and by Nsight Compute.

    check_shapes.py [GAPLINE]
"""
import json
import lzma
import os
import re
import sys

from check_captures import check_made

STEPS = 20


# What torch.utils.flop_counter.FlopCounterMode counted of a step while the traces in recorded/ were made.
COUNTED = {
    "math": {"convolution": 20501757952, "addmm": 34359902208, "bmm": 12884901888, "mm": 120259411968, "convolution_backward": 57008979968},
    "flash": {"convolution": 20501757952, "addmm": 34359902208, "flash_attention_forward": 4294967296, "mm": 120259411968,
              "flash_attention_backward": 10737418240, "convolution_backward": 57008979968}}
# The counter counts all 512 channels times 512 in the gradient of the weights of a convolution in 8 groups (16 images of 16 by 16
# points, a window of 3 by 3): seven eighths are products between groups, which no kernel makes.
BETWEEN_GROUPS = 2 * 16 * 16 * 16 * 512 * 512 * 9 * 7 // 8


def check_recorded(table, gapline, folder):
    """A real pair: attention by plain products, and by one kernel. PyTorch's own counter says how much each operator calculates."""
    here, paths = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recorded"), []
    for side in COUNTED:
        paths.append(os.path.join(folder, f"attention-{side}.json"))
        with lzma.open(os.path.join(here, f"attention-{side}.json.xz")) as packed, open(paths[-1], "wb") as file:
            file.write(packed.read())
    status, document, _, said = gapline.report(*paths)
    if not table.check("recorded: a report", status == 0 and document, said.strip()[-80:]):
        return
    for of, (side, counted) in zip(("baseline", "fixed"), COUNTED.items()):
        seen = {}
        for row in document[of]["operators"]:
            name = row["name"].removeprefix("aten::").lstrip("_").removeprefix("cudnn_")
            if row["flop_per_step"]:
                seen[name] = seen.get(name, 0) + row["flop_per_step"]
        want = {**counted, "convolution_backward": counted["convolution_backward"] - BETWEEN_GROUPS}
        table.check(f"recorded: what {side} calculates", seen == want, seen)
    one, both = os.path.join(folder, "one.html"), os.path.join(folder, "both.html")
    gapline.run("show", paths[0], "-o", one)
    gapline.run("report", *paths, "-o", both)
    keys = []
    for page in one, both:
        with open(page, encoding="utf-8") as file:
            [roof] = re.findall('<svg[^>]*><title>Roofline of the longest operators.*?</svg>', file.read(), re.S)
        keys.append([key for key in ("profile", "baseline", "fixed") if f'y="35">{key}<' in roof] + re.findall('d="M91 26', roof))
    table.check("recorded: the roofline has a key for each side", keys == [["profile"], ["baseline", "fixed", 'd="M91 26']], keys)
    table.check("recorded: the same job", document["verdict"]["same_work"] == "same_job" and
                any(" GFLOP per step" in note for note in document["verdict"]["notes"]), document["verdict"]["notes"])


def check_published(table, gapline, folder):
    """Strangers' traces on an H100, and what TraceLens says of them (tests/cmd/recorded/README.md). It counts an addition for each
    number of a bias, and half of attention behind a causal mask, as PyTorch's own counter does not."""
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recorded")
    with open(os.path.join(here, "tracelens.tsv"), encoding="utf-8") as file:
        rows = [line.split("\t") for line in file.read().splitlines()[1:]]
    for trace in sorted({row[0] for row in rows}):
        path = os.path.join(folder, f"tracelens-{trace}.json")
        with lzma.open(os.path.join(here, f"tracelens-{trace}.json.xz")) as packed, open(path, "wb") as file:
            file.write(packed.read())
        seen = {row["name"]: row for row in gapline.report(path, path)[1]["baseline"]["operators"]}
        for _, name, *theirs in (row for row in rows if row[0] == trace):
            milliseconds, gflop, mib = map(float, theirs)
            row = seen[name]
            good = abs(row["own_gpu_ms_per_step"] / milliseconds - 1) < 2e-4
            if row["flop_per_step"]:
                half = trace == "qwen" and "attention" in name
                good = good and abs(row["flop_per_step"] / 1e9 / gflop - (2 if half else 1)) < (1e-3 if name == "aten::addmm" else 1e-9)
            if row["bytes_per_step"] and mib:
                good = good and abs(row["bytes_per_step"] / (mib * 2**20) - 1) < (2e-3 if name == "aten::mean" else 1e-6)
            table.check(f"TraceLens, {trace}: {name}", good, [row[k] for k in ("own_gpu_ms_per_step", "flop_per_step", "bytes_per_step")], theirs)


# Operators with their inputs, as PyTorch writes them, and their floating-point operations as one works them out by hand.
PRODUCTS = [
    ("aten::mm", [[2048, 256], [256, 512]], "float", 536_870_912),
    ("aten::mm", [[16, 1], [1, 256]], "c10::BFloat16", 8192),
    ("aten::addmm", [[706], [32, 1377], [1377, 706], [], []], "float", 62_218_368),
    ("aten::bmm", [[8, 128, 64], [8, 64, 128]], "c10::Half", 16_777_216),
    ("aten::baddbmm", [[4, 10, 30], [4, 10, 20], [4, 20, 30], [], []], "float", 48_000),
    ("aten::_scaled_mm", [[64, 128], [128, 256], [], [], [], []], "c10::Float8_e4m3fn", 2 * 64 * 128 * 256),
    ("aten::mm", [[0, 256], [256, 512]], "float", 0),
    ("aten::mm", [[64, 64], [64, 64]], "c10::complex<float>", None),
    ("aten::mm", [[64, 64], [32, 64]], "float", None),  # no product of these exists
    ("aten::bmm", [[8, 128, 64], [4, 64, 128]], "float", None),
    ("aten::mm", [], "float", None),
    ("aten::mm", [[[64, 64]], [64, 64]], "float", None),
    ("aten::relu", [[64, 64]], "float", None),
    # 16 images, 56 by 56 points each (112 by 112, a window of 7, 3 around it, each second one), 64 by 3 by 7 by 7 weights
    ("aten::cudnn_convolution", [[16, 3, 112, 112], [64, 3, 7, 7], [], [], []], "float", 2 * 16 * 56 * 56 * 64 * 3 * 49,
     ["", "", "[3, 3]", "[2, 2]", "[1, 1]"]),
    # a line: 100 points, a window of 3 that reaches over 5: 96 are left; 32 channels in 4 groups of 8
    ("aten::cudnn_convolution", [[2, 32, 100], [32, 8, 3], [], [], []], "c10::Half", 2 * 2 * 96 * 32 * 8 * 3,
     ["", "", "[0]", "[1]", "[2]"]),
    ("aten::cudnn_convolution", [[2, 4, 3, 3], [8, 4, 5, 5], [], [], []], "float", 0, ["", "", "[0, 0]", "[1, 1]", "[1, 1]"]),
    ("aten::cudnn_convolution", [[16, 3, 112, 112], [64, 3, 7, 7], [], [], []], "float", None),  # strides are not recorded
    ("aten::cudnn_convolution", [[16, 3, 112, 112], [64, 3, 7, 7], [], [], []], "float", None, ["", "", "[3, 3]", "[0, 0]", "[1, 1]"]),
    ("aten::convolution_backward", [[16, 64, 56, 56], [16, 3, 112, 112], [64, 3, 7, 7], [], [], [], [], [], [], [], []], "float",
     2 * 16 * 56 * 56 * 64 * 3 * 49, ["", "", "", "[64]", "[2, 2]", "[3, 3]", "[1, 1]", "False", "[0, 0]", "1", "[False, True, True]"]),
    ("aten::convolution_backward", [[16, 64, 56, 56], [16, 3, 112, 112], [64, 3, 7, 7], [], [], [], [], [], [], [], []], "float",
     2 * 2 * 16 * 56 * 56 * 64 * 3 * 49, ["", "", "", "[64]", "[2, 2]", "[3, 3]", "[1, 1]", "False", "[0, 0]", "1", "[True, True, False]"]),
    # transposed: each of 8 by 8 points that go in meets all weights
    ("aten::convolution_backward", [[1, 4, 16, 16], [1, 6, 8, 8], [6, 4, 2, 2], [], [], [], [], [], [], [], []], "float",
     2 * 2 * 8 * 8 * 6 * 4 * 2 * 2, ["", "", "", "[4]", "[2, 2]", "[0, 0]", "[1, 1]", "True", "[0, 0]", "1", "[True, True, True]"]),
    ("aten::convolution_backward", [[16, 64, 56, 56], [16, 3, 112, 112], [64, 3, 7, 7], [], [], [], [], [], [], [], []], "float", None),
    # 2 by 8 heads; 128 queries of 64 numbers, 256 keys, values of 32: two products, and five for the gradients
    ("aten::_flash_attention_forward", [[2, 128, 8, 64], [2, 256, 8, 64], [2, 256, 8, 32]], "c10::Half", 2 * 16 * 128 * 256 * (64 + 32)),
    ("aten::_efficient_attention_forward", [[2, 128, 8, 64], [2, 256, 2, 64], [2, 256, 2, 32], []], "float", 2 * 16 * 128 * 256 * (64 + 32)),
    ("aten::_scaled_dot_product_cudnn_attention", [[2, 8, 128, 64], [2, 8, 256, 64], [2, 8, 256, 32]], "c10::Half",
     2 * 16 * 128 * 256 * (64 + 32)),
    ("aten::_flash_attention_backward", [[2, 128, 8, 32], [2, 128, 8, 64], [2, 256, 8, 64], [2, 256, 8, 32]], "c10::Half",
     2 * 16 * 128 * 256 * (3 * 64 + 2 * 32)),
    ("aten::_cudnn_attention_backward", [[2, 8, 128, 32], [2, 8, 128, 64], [2, 8, 256, 64], [2, 8, 256, 32]], "c10::Half",
     2 * 16 * 128 * 256 * (3 * 64 + 2 * 32)),
    ("aten::_flash_attention_forward", [[1000, 8, 64], [1000, 8, 64], [1000, 8, 64]], "c10::Half", None),  # of several lengths
]


PEAKS = {"c10::Half": 989.4e12, "c10::BFloat16": 989.4e12, "c10::Float8_e4m3fn": 1978.9e12}  # of an H100 SXM; float: not known


# What they read and write, each input and output once. The first five were also counted by Nsight Compute on an H200, in bytes of
# DRAM: 3 201 237 504, 2 120 697 856, 1 051 193 600, 784 084 736 and 1 268 306 432 (layer norm reads part of its input twice).
BYTES = [
    ("aten::add", [[1 << 28], [1 << 28], []], ["float", "float", "Scalar"], 3 * 4 << 28),
    ("aten::clamp_min", [[1 << 28], []], ["float", "Scalar"], 2 * 4 << 28),
    ("aten::_softmax", [[1 << 15, 4096], [], []], ["float", "Scalar", "Scalar"], 2 * 4 << 27),
    ("aten::copy_", [[1 << 15, 4096], [1 << 15, 4096], []], ["c10::BFloat16", "float", "Scalar"], 6 << 27),
    ("aten::native_layer_norm", [[1 << 15, 4096], [], [4096], [4096], []], ["float", "ScalarList", "float", "float", "Scalar"], 4 * ((2 << 27) + 8192)),
    ("aten::mul", [[8, 1, 5], [7, 1], []], ["c10::Half", "c10::Half", ""], 2 * (40 + 7 + 8 * 7 * 5)),  # spread over each other
    ("aten::add", [[64, 64], [], []], ["float", "double", "Scalar"], 2 * 4 * 4096),  # a number beside it has any type
    ("aten::add", [[64, 64], [64, 64], []], ["float", "c10::Half", "Scalar"], None),
    ("aten::_softmax", [[64, 64], [], []], ["c10::Half", "Scalar", "Scalar"], None),  # which may be asked for in 32 bits
    ("aten::fill_", [[10, 10], []], ["long int", "Scalar"], 800),
    ("aten::mm", [[2048, 256], [256, 512]], ["c10::Half"] * 2, 2 * (2048 * 256 + 256 * 512 + 2048 * 512)),
    ("aten::addmm", [[706], [32, 1377], [1377, 706], [], []], ["float"] * 3 + ["Scalar"] * 2, 4 * (706 + 32 * 1377 + 1377 * 706 + 32 * 706)),
    ("aten::_flash_attention_forward", [[2, 128, 8, 64], [2, 256, 8, 64], [2, 256, 8, 32]], ["c10::Half"] * 3,
     2 * 2 * 8 * (128 * 64 + 256 * 64 + 256 * 32 + 128 * 32)),
    ("aten::_scaled_mm", [[64, 128], [128, 256]], ["c10::Float8_e4m3fn"] * 2, None),  # of which type the output is, is not recorded
    ("aten::add", [[-1, 64], [1, 64], []], ["float", "float", "Scalar"], None),
    ("aten::add", [[1 << 40, 1 << 40], [1]], ["float", "float"], None),
    ("aten::nll_loss_forward", [[64, 64], [64]], ["float", "long int"], None),
    # Convolutions and sums were counted on an H100, DRAM likewise: 805 110 016, 1 651 000 000, 269 000 000, 270 000 000, 134 300 000 and
    # 537 000 000. With its channels first the convolution's kernel alone is that, and copies into another order are twice as much again.
    ("aten::cudnn_convolution", [[256, 64, 112, 112], [64, 64, 3, 3], [], [], []], ["c10::Half"] * 2 + ["ScalarList"] * 3,
     2 * (2 * 256 * 64 * 112 ** 2 + 64 * 64 * 9), ["", "", "[1, 1]", "[1, 1]", "[1, 1]"]),
    ("aten::convolution_backward", [[256, 64, 112, 112]] * 2 + [[64, 64, 3, 3]] + [[]] * 8, ["c10::Half"] * 3 + ["ScalarList"] * 8,
     2 * 2 * (2 * 256 * 64 * 112 ** 2 + 64 * 64 * 9), ["", "", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1", "[True, True, False]"]),
    ("aten::sum", [[65536, 2048], [], [], []], ["c10::BFloat16", "ScalarList", "Scalar", ""], 2 * (65536 * 2048 + 65536), ["", "[-1]", "False", ""]),
    ("aten::sum", [[65536, 2048], [], [], []], ["c10::BFloat16", "ScalarList", "Scalar", ""], 2 * (65536 * 2048 + 2048), ["", "[0]", "False", ""]),
    ("aten::sum", [[64, 1024, 1024], []], ["c10::BFloat16", ""], 2 * ((64 << 20) + 1), ["", ""]),
    ("aten::amax", [[65536, 2048], [], []], ["float", "ScalarList", "Scalar"], 4 * (65536 * 2048 + 65536), ["", "[1]", "False"]),
    ("aten::mean", [[8, 16, 7, 7], [], [], []], ["float", "ScalarList", "Scalar", ""], 4 * 8 * 16 * (49 + 1), ["", "[-1, -2]", "True", ""]),
    ("aten::mean", [[8, 16, 7], [], [], []], ["float", "ScalarList", "Scalar", ""], 4 * (8 * 16 * 7 + 1), ["", "[0, 1, 2]", "False", ""]),
    ("aten::linalg_vector_norm", [[64, 1024], [], [], [], []], ["float", "Scalar", "", "Scalar", ""], 4 * ((64 << 10) + 1), ["", "2", "", "False", ""]),
    ("aten::linalg_vector_norm", [[64, 1024], [], [], [], []], ["float", "Scalar", "ScalarList", "Scalar", ""], 4 * ((64 << 10) + 64), ["", "2", "[1]", "False", ""]),
    ("aten::sum", [[64, 64], [], [], []], ["c10::Half", "ScalarList", "Scalar", "Scalar"], None, ["", "[1]", "False", "6"]),  # to another type
    ("aten::sum", [[64, 64], []], ["c10::Half", "Scalar"], None, ["", "6"]),
    ("aten::sum", [[64, 64], [], [], []], ["float", "ScalarList", "Scalar", ""], None, ["", "[2]", "False", ""]),  # there is no such dimension
    ("aten::sum", [[2, 3, 4, 5], [], [], []], ["float", "ScalarList", "Scalar", ""], None, ["", "[0, 1, 2]", "False", ""]),  # or more: not held
    ("aten::sum", [[64, 64], [], [], []], ["float", "ScalarList", "Scalar", ""], None),  # along which is not recorded
    ("aten::cudnn_convolution", [[2, 4, 9, 9], [8, 4, 3, 3], [], [], []], ["float"] * 2 + ["ScalarList"] * 3, None),
    ("aten::convolution_backward", [[2, 8, 7, 7], [2, 4, 9, 9], [8, 4, 3, 3]] + [[]] * 8, ["float"] * 3 + ["ScalarList"] * 8, 4 * (2 * 8 * 49 + 2 * 4 * 81 + 8 * 4 * 9),
     ["", "", "", "", "[1, 1]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1", "[False, True, True]"]),
]


def check_bytes(table, gapline, folder):
    """Each launches a memset and two kernels, 10 us long: the bytes are the kernels', for 20 us."""
    for i, (name, dims, kinds, count, *concrete) in enumerate(BYTES):
        paths = [os.path.join(folder, f"bytes-{i}{end}") for end in (".json", ".digest")]
        launching(paths[0], name, {"Input type": kinds, "Input Dims": dims} | {"Concrete Inputs": words for words in concrete})
        gapline.run("digest", paths[0], "-o", paths[1])
        for path in paths:
            document = gapline.report(path, path, "--warmup", "0")[1]
            row = document["baseline"]["operators"][0] if document else {}
            seen = [row.get(key) for key in ("name", "bytes_per_step", "bytes_known_ms_per_step", "gb_per_second")]
            want = [name, count, 0.02 if count is not None else 0, None if count is None else count / 20e-6 / 1e9]
            good = all(a == b or (None not in (a, b) and not isinstance(a, str) and abs(a - b) <= 1e-9 * abs(b)) for a, b in zip(seen, want))
            table.check(f"bytes: {name} of {dims}, {os.path.splitext(path)[1]}", good, seen, want)


def launching(path, name, args):
    """Steps of an operator that launches a memset and two kernels."""
    events = []
    for step in range(STEPS):
        at = 1000 + 1000 * step
        event = {"ph": "X", "pid": 9, "tid": 9}
        events.append({**event, "cat": "user_annotation", "name": f"ProfilerStep#{step}", "ts": at, "dur": 900})
        events.append({**event, "cat": "cpu_op", "name": name, "ts": at + 10, "dur": 100, "args": args})
        for k, call in enumerate(("cudaMemsetAsync", "cudaLaunchKernel", "cudaLaunchKernel")):
            linked = {"correlation": 3 * step + k + 1}
            events.append({**event, "cat": "cuda_runtime", "name": call, "ts": at + 20 + 10 * k, "dur": 5, "args": linked})
            events.append({"ph": "X", "cat": "kernel" if k else "gpu_memset", "name": f"kernel_{k}", "pid": 0, "tid": 7,
                           "ts": at + 100 + 20 * k, "dur": 10, "args": {**linked, "device": 0, "stream": 7, "bytes": 64}})
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"traceEvents": events}, file)


def check_peaks(table, gapline, folder):
    """Two GPUs of a model, products of 20 us each and step on one of them, in steps of 1 ms: what the page says of peak and MFU.
    A model without a data sheet has none."""
    flops = 2 * 2048 ** 3
    for model, known in (("NVIDIA H100 80GB HBM3", True), ("NVIDIA H100", False)):
        events = []
        for step in range(STEPS):
            event = {"ph": "X", "pid": 9, "tid": 9}
            at = 1000 + 1000 * step
            events.append({**event, "cat": "user_annotation", "name": f"ProfilerStep#{step}", "ts": at, "dur": 1000})
            events.append({**event, "cat": "cpu_op", "name": "aten::mm", "ts": at + 10, "dur": 100,
                           "args": {"Input type": ["c10::Half"] * 2, "Input Dims": [[2048, 2048]] * 2}})
            for device, takes in ((0, 20), (1, 60)):
                args = {"correlation": 2 * step + device + 1}
                events.append({**event, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": at + 20 + device, "dur": 1, "args": args})
                events.append({"ph": "X", "cat": "kernel", "name": "gemm", "pid": device, "tid": 7, "ts": at + 100, "dur": takes,
                               "args": {**args, "device": device, "stream": 7}})
        path = os.path.join(folder, "peaks.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"deviceProperties": [{"id": i, "name": model} for i in range(2)], "traceEvents": events}, file)
        _, document, page, said = gapline.report(path, path, "--warmup", "0")
        share = flops / 80e-6 / 989.4e12  # the second kernel is the same operator's: 20 us and 60
        mfu = flops / 1e-3 / 2 / 989.4e12
        text = " ".join(page.decode().split())
        expected = f"reach {share * 100:.0f} % of the tensor cores' peak (data sheet); MFU is at least {mfu * 100:.1f} %."
        table.check(f"peaks: {model}", document and (expected in text) == known and ("MFU" in text) == known,
                    text[text.find("Floating-point operations are"):][:300], expected)


def check_products(table, gapline, folder):
    """Each launches a memset and two kernels, 10 us long; the work is that of one product."""
    for i, (name, dims, kind, flops, *given) in enumerate(PRODUCTS):
        events = []
        for step in range(STEPS):
            at = 1000 + 1000 * step
            event = {"ph": "X", "pid": 9, "tid": 9, "args": {}}
            events.append({**event, "cat": "user_annotation", "name": f"ProfilerStep#{step}", "ts": at, "dur": 900})
            args = {"Input type": [kind] * len(dims), "Input Dims": dims} if dims else {}
            args.update({"Concrete Inputs": texts for texts in given})
            if given or i % 2:  # around it one that knows no more, or as much and counts nothing itself
                events.append({**event, "cat": "cpu_op", "name": name if i % 2 else "aten::around", "ts": at + 9, "dur": 102, "args": args})
            events.append({**event, "cat": "cpu_op", "name": name, "ts": at + 10, "dur": 100, "args": args})
            for k, call in enumerate(("cudaFuncGetAttributes", "cudaMemsetAsync", "cudaLaunchKernel", "cudaLaunchKernel")):
                args = {"correlation": 4 * step + k + 1}
                events.append({**event, "cat": "cuda_runtime", "name": call, "ts": at + 20 + 10 * k, "dur": 5, "args": args})
                if k:
                    events.append({"ph": "X", "cat": "kernel" if k > 1 else "gpu_memset", "name": f"kernel_{k}", "pid": 0, "tid": 7,
                                   "ts": at + 100 + 20 * k, "dur": 10, "args": {**args, "device": 0, "stream": 7, "bytes": 64}})
        paths = [os.path.join(folder, f"product-{i}{end}") for end in (".json", ".digest")]
        with open(paths[0], "w", encoding="utf-8") as file:
            json.dump({"deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}], "traceEvents": events}, file)
        gapline.run("digest", paths[0], "-o", paths[1])
        for path in paths:
            document = gapline.report(path, path, "--warmup", "0")[1]
            row = document["baseline"]["operators"][0] if document else {}
            seen = [row.get(key) for key in ("name", "flop_per_step", "flop_known_ms_per_step", "tflop_per_second", "share_of_peak")]
            peak = PEAKS.get(kind) if flops is not None else None
            want = [name, flops, 0.03 if flops is not None else 0, None if flops is None else flops / 30e-6 / 1e12,
                    peak and flops / 30e-6 / peak]
            good = all(a == b or (None not in (a, b) and not isinstance(a, str) and abs(a - b) <= 1e-9 * abs(b)) for a, b in zip(seen, want))
            table.check(f"products: {name} of {dims}, {os.path.splitext(path)[1]}", good, seen, want)


if __name__ == "__main__":
    sys.exit(check_made("gapline-shapes-", check_recorded, check_published, check_products, check_peaks, check_bytes))
