import os

_open = 0


def _note(*words):
    if os.environ.get("STANDIN_NVTX_FAILS") and words[-1] == "forward":
        raise RuntimeError("NVTX functions not installed")
    with open(os.environ["STANDIN_NVTX"], "a", encoding="utf-8") as file:
        print(*words, file=file)


def range_push(name):
    _note("push", name)


def range_pop():
    _note("pop")


def mark(text):
    _note("mark", text)


def range_start(name):
    global _open
    _open += 1
    _note("start", _open, name)
    return _open


def range_end(number):
    _note("end", number)
