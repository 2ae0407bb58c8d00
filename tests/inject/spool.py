"""Reads a spool as gen/capture/spool.h describes it, strictly: the tests of the libraries that write it.

Any deviation from the format is an AssertionError.
"""

import collections
import pathlib
import struct

BLOCKS = ("", "CUPTI", "RECORD_SIZES", "BUFFER", "KERNEL_NAME", "CALLBACK_NAMES", "EVENTS", "DEVICE", "DRIVER", "PROGRAM",
          "THREAD_NAME", "DROPPED", "MESSAGE", "WINDOW", "END", "SAMPLED")
EVENTS = ("", "PUSH", "POP", "START", "STOP", "MARK", "DOMAIN", "STRING", "NAME_THREAD", "CATEGORY", "OS_CALL", "FUNCTION", "SAMPLE",
          "SCHEMA", "PAYLOAD", "MODULE", "NATIVE", "LOCK", "HOLDER", "PYTHON_THREAD", "NODE")
TEXTS = ("NO_TEXT", "UTF8", "WIDE", "REGISTERED")

Header = collections.namedtuple("Header", "version clock pid parent writer reserved monotonic realtime")
Block = collections.namedtuple("Block", "type tid data")
Event = collections.namedtuple(
    "Event", "tid time type text payload_type domain category color has_color id string payload words")


class Spool:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        data = self.path.read_bytes()
        assert data[:8] == b"GLSPOOL\0", data[:8]
        self.header = Header(*struct.unpack("<6Iqq", data[8:48]))
        assert self.header.version == 1 and self.header.clock == 1 and self.header.reserved == 0, self.header
        self.blocks, self.cut = [], False
        at = 48
        while at < len(data):
            if at + 16 > len(data):
                self.cut = True
                break
            kind, tid, size = struct.unpack("<IIQ", data[at : at + 16])
            assert 1 <= kind < len(BLOCKS), (kind, at)
            end = at + 16 + size
            padded = (end + 7) // 8 * 8
            if padded > len(data):
                self.cut = True
                break
            assert not any(data[end:padded]), "padding is not zero"
            self.blocks.append(Block(BLOCKS[kind], tid, data[at + 16 : end]))
            at = padded
        ends = [i for i, b in enumerate(self.blocks) if b.type == "END"]
        assert len(ends) <= 1 and (not ends or ends[0] == len(self.blocks) - 1), "END is not last"
        self.complete = bool(ends)
        self.events = [e for b in self.blocks if b.type == "EVENTS" for e in events(b)]

    def of(self, kind):
        return [b for b in self.blocks if b.type == kind]

    def texts(self, kind):
        return [b.data.decode() for b in self.of(kind)]

    def thread_names(self):
        return {b.tid: b.data.decode() for b in self.of("THREAD_NAME")}

    def messages(self):
        return [(*struct.unpack("<II", b.data[:8]), b.data[8:].decode()) for b in self.of("MESSAGE")]

    def dropped(self):
        return [struct.unpack("<IIQ", b.data)[::2] for b in self.of("DROPPED")]

    def windows(self):
        return [struct.unpack("<IIq", b.data) for b in self.of("WINDOW")]


def events(block):
    at, before = 0, 0
    while at < len(block.data):
        (time, size, kind, text, payload_type, domain, category, color, has_color, ident, string, text_bytes,
         payload) = struct.unpack("<qIBBHIIIIQIIQ", block.data[at : at + 56])
        assert size % 8 == 0 and size == 56 + (text_bytes + 7) // 8 * 8, (size, text_bytes)
        assert 1 <= kind < len(EVENTS) and text < len(TEXTS) and has_color in (0, 1)
        raw = block.data[at + 56 : at + 56 + text_bytes]
        assert not any(block.data[at + 56 + text_bytes : at + size]), "padding of a text is not zero"
        binary = EVENTS[kind] in ("SCHEMA", "PAYLOAD")
        words = raw if binary else raw.decode("utf-32-le") if TEXTS[text] == "WIDE" else raw.decode()
        if kind != EVENTS.index("OS_CALL"):  # those bear the time at which they began
            assert time >= before, "events of a thread are not in order"
        before = time
        yield Event(block.tid, time, EVENTS[kind], TEXTS[text], payload_type, domain, category, color, has_color, ident,
                    string, payload, words)
        at += size
    assert at == len(block.data)


def read_all(folder):
    """Spools of the folder by process id."""
    spools = [Spool(p) for p in sorted(pathlib.Path(folder).iterdir())]
    for s in spools:
        pid, library, n = s.path.stem.split("-")
        assert int(pid) == s.header.pid and library in ("cuda", "osrt") and n.isdigit(), s.path
    return spools
