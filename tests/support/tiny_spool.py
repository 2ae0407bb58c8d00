"""A small spool (gen/capture/spool.h) with one of everything, as bytes."""

import struct
import sys
import time

CUPTI, SIZES, BUFFER, KERNEL_NAME, CALLBACKS, EVENTS, DEVICE, DRIVER, PROGRAM, THREAD, DROPPED, MESSAGE, WINDOW, END, SAMPLED, NATIVE_SAMPLED = (
    range(1, 17)
)
FUNCTION, SAMPLE, SCHEMA, PAYLOAD, MODULE, NATIVE, LOCK, HOLDER = range(11, 19)  # of events, beyond NVTX's


began = 0  # on the monotonic clock: times in the spool count from here


def block(kind, payload, tid=0):
    return struct.pack("<IIQ", kind, tid, len(payload)) + payload + bytes(-len(payload) % 8)


def event(kind, time, text=b"", text_kind=None, domain=0, id=0, string=0, payload=0):
    padded = text + bytes(-len(text) % 8)
    if text_kind is None:
        text_kind = 1 if text else 0
    head = struct.pack("<qIBBHIIIIQIIQ", began + time, 56 + len(padded), kind, text_kind, 0, domain, 0, 0, 0, id, string,
                       len(text), payload)
    return head + padded


def callback(domain, id, text):
    padded = text + bytes(-len(text) % 8)
    return struct.pack("<IIII", domain, id, 16 + len(padded), len(text)) + padded


def record(size, *fields):
    out = bytearray(size)
    for form, at, value in fields:
        struct.pack_into("<" + form, out, at, value)
    return bytes(out)


def call(kind, id, start, end, correlation):
    return struct.pack("<IIQQIIII", kind, id, began + start, began + end, 1, 1, correlation, 0)


def op(size, kind, times, correlation_at, start, end, correlation):
    return record(size, ("I", 0, kind), ("Q", times, began + start), ("Q", times + 8, began + end), ("I", correlation_at, correlation))


def spool():
    records = (
        call(4, 307, 5010, 5020, 1)
        + call(5, 211, 5000, 5030, 1)
        + op(216, 10, 16, 92, 5040, 5050, 1)
        + op(96, 1, 16, 44, 5060, 5070, 1)
        + op(96, 22, 16, 60, 5060, 5070, 1)
        + op(88, 2, 16, 44, 5080, 5090, 1)
        + op(56, 38, 8, 24, 5100, 5110, 1)
        + op(56, 51, 8, 4, 5120, 5130, 1)
        + op(56, 17, 24, 40, 5140, 5150, 1)
    )
    events = (
        event(6, 5000, b"library", domain=1)
        + event(1, 5001, b"step")
        + event(1, 5002, b"w\0\0\0", text_kind=2, domain=1)
        + event(7, 5003, b"text", string=1)
        + event(2, 5004, domain=1)
        + event(3, 5005, text_kind=3, string=1, id=7)
        + event(4, 5006, id=7)
        + event(5, 5007, b"mark")
        + event(8, 5008, b"main", id=1)
        + event(9, 5009, b"category")
        + event(2, 5010)
        + event(10, 5011, b"poll", payload=65000)
    )
    sizes = [(1, 96), (2, 88), (4, 40), (5, 40), (10, 216), (17, 56), (22, 96), (38, 56), (51, 56)]
    return (
        struct.pack("<8sIIIIIIqq", b"GLSPOOL\0", 1, 1, 1, 0, 2, 0, began + 1000, 2000)
        + block(PROGRAM, b"tiny")
        + block(DRIVER, b"580.1")
        + block(CUPTI, struct.pack("<IIII", 130001, 13000, 1, 3))
        + block(SIZES, b"".join(struct.pack("<II", *size) for size in sizes))
        + block(DEVICE, struct.pack("<IIQQQIIIII16sI", 0, 132, 1 << 30, 0, 0, 9, 0, 0, 6, 0, bytes(16), 4) + b"H200")
        + block(KERNEL_NAME, struct.pack("<Q", 0) + b"_Z3addPfi")
        + block(CALLBACKS, callback(2, 211, b"cudaLaunchKernel_v7000") + callback(1, 307, b"cuLaunchKernel"))
        + block(BUFFER, records)
        + block(EVENTS, events, tid=1)
        + block(THREAD, b"main", tid=1)
        + block(DROPPED, struct.pack("<IIQ", 1, 0, 3))
        + block(MESSAGE, struct.pack("<II", 2, 0) + b"a warning")
        + block(WINDOW, struct.pack("<IIq", 0, 1, began + 6000))
        + block(END, struct.pack("<q", began + 7000))
    )


def samples(library=b"/lib/libx.so", inode=1):
    """Blocks: two Python functions of thread 1, what the inner one had called, and who held the lock it waited for."""
    native = struct.pack("<QII", 0x1000, 1, 0) + struct.pack("<QII", 0x1010, 1, 1)
    events = (
        event(FUNCTION, 5012, b"outer\0train.py", id=1)
        + event(FUNCTION, 5013, b"inner\0train.py", id=2)
        + event(MODULE, 5014, library, id=1, payload=inode)
        + event(NATIVE, 5041, native, text_kind=0, id=1)
        + event(SAMPLE, 5041, struct.pack("<2I", 2, 1), text_kind=0, id=1)
        + event(SAMPLE, 5061, struct.pack("<I", 1), text_kind=0, id=1)
        + event(HOLDER, 5081, struct.pack("<I", 2), text_kind=0, id=9)
        + event(LOCK, 5081, id=1, payload=2 << 32 | 9)
        + event(SAMPLE, 5081, struct.pack("<2I", 2, 1), text_kind=0, id=1)
        + event(LOCK, 5101, id=1, payload=1 << 32)
    )
    return (block(EVENTS, events, tid=9) + block(SAMPLED, struct.pack("<4Q", 1000000, 3, 0, 0))
            + block(NATIVE_SAMPLED, struct.pack("<7Q", 1, 2, 0, 1, 0, 0, 1)))


def payloads():
    """Blocks: the layout of what NCCL says of an all-reduce, and one such call."""
    entries = b"".join(struct.pack("<QQQQII", 0, kind, 0, at, 40 + (len(name) + 7) // 8 * 8, len(name)) + name + bytes(-len(name) % 8)
                       for kind, at, name in ((18, 0, b"NCCL communicator ID"), (22, 8, b"Message size [bytes]"), (5, 16, b"Root")))
    schema = event(SCHEMA, 5012, entries, text_kind=0, domain=1, id=1 << 24, payload=24)
    events = (
        schema[:20] + struct.pack("<I", 1) + schema[24:]  # its category: every entry has a place of its own
        + event(1, 5014, b"ncclAllReduce", domain=1)
        + event(PAYLOAD, 5015, struct.pack("<7Q", 1, 1 << 24, 24, 32, 7, 4096, 0), text_kind=0, domain=1)
        + event(2, 5020, domain=1)
    )
    return block(EVENTS, events, tid=1)


def whole():
    """As spool(), with samples and payloads in front of its end, which is a block of 24 bytes."""
    data = spool()
    return data[:-24] + payloads() + samples() + data[-24:]


if __name__ == "__main__":  # as if it had been recorded now
    began = time.monotonic_ns()
    with open(sys.argv[1], "wb") as file:
        file.write(whole())
