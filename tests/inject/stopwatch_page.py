"""Reads the pages of a timed run as gen/capture/stopwatch_page.h describes them, strictly."""

import collections
import pathlib
import struct

PROBLEMS = ("FINE", "NO_DRIVER", "NO_CONTEXT", "TIME_LIMIT", "REFUSED", "NO_THREAD", "NO_CUPTI")

Page = collections.namedtuple("Page", "pid ended asked idle contexts problem code")


def read(path):
    data = path.read_bytes()
    assert len(data) == 72, len(data)
    magic, version, pid, ended, a, b, x, y, m, n, problem, code = struct.unpack("<8sIIQ4q2IIi", data)
    assert magic == b"GLWATCH\0" and version == 1, (magic, version)
    assert path.stem.split("-")[0] == str(pid), path
    return Page(pid, ended, (a, b), (x, y), (m, n), PROBLEMS[problem], code)


def read_all(folder):
    return [read(p) for p in sorted(pathlib.Path(folder).iterdir())]
