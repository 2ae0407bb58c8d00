#!/usr/bin/python3 -IS
"""Plays nsys for tests: the same commands, files and habits, but the profile is the one that the target names.

The target is started in a session of its own, with pipes in front of its output, as nsys does it. The first word of its
command that ends with .sqlite is what is "recorded", # in it counting from 0, or, where graphs are to be traced node by
node, "nodes" if there is such a file; `nsys export` copies it. STANDIN_NSYS says what goes wrong:
old, broken, no-report, no-importer, no-export, slow-export, refused, dies, closes-descriptors, full, full-stream, full-export, no-payloads. STANDIN_ARGS: a file
that gets the options, STANDIN_EXPORTED one that gets those of exports, STANDIN_STARTED one that the target writes to when it
has started: "dies" is after that.
"""

import _signal as signal  # without its names for people, which take half as long as Python's start
import os
import sys

HELP = "\t--cpuctxsw=\n\t--cuda-graph-trace=\n\t--kill=\n\t--wait=\n\t--capture-range-end=\n\t-t, --trace=\n"


def written(path, text):
    with open(path, "w") as file:
        file.write(text)


def begin(target, alone):
    """The target's number, and the end of a pipe where its output arrives."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        for number in 1, 2:
            os.dup2(writing, number)
        for ignored in signal.SIGPIPE, signal.SIGXFSZ:  # by Python
            signal.signal(ignored, signal.SIG_DFL)
        if alone:
            os.closerange(3, 1024)
        try:
            os.execvp(target[0], target)
        finally:
            os._exit(127)
    os.close(writing)
    return child, reading


def ended(child, seconds):
    """Its status, None if it goes on after so many seconds."""
    if not seconds:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    import time

    end = time.monotonic() + seconds[0]
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    return None


def profile(options, target, mode):
    output = next(o for o in options if o.startswith("--output=")).split("=", 1)[1]
    if mode in ("full", "full-stream"):
        if mode == "full-stream":  # what was recorded, before a report is made of it
            written(output + ".qdstrm", "stream")
        print("Error: cannot write the report: No space left on device")
        return 1
    if mode == "refused":
        print("Error: ptrace failed: Operation not permitted")
        return 1
    started = os.environ.get("STANDIN_STARTED", "/dev/null")
    size = lambda: os.stat(started).st_size if os.path.exists(started) else 0
    before = size()
    duration = [float(o.split("=")[1]) for o in options if o.startswith("--duration=")]
    print("Collecting data...")
    sys.stdout.flush()
    child, reading = begin(target, mode == "closes-descriptors")

    def send(number):
        try:
            os.killpg(child, number)
        except ProcessLookupError:  # it may have ended by itself
            pass

    signal.signal(signal.SIGINT, lambda *_: send(signal.SIGTERM))
    if mode == "dies":
        import time

        while size() == before:
            time.sleep(0.01)
        time.sleep(0.2)  # who started it notes that a moment later
        os.kill(os.getpid(), signal.SIGKILL)
    status = ended(child, duration)
    if status is None and "--kill=none" not in options:
        send(signal.SIGKILL if "--kill=sigkill" in options else signal.SIGTERM)
        status = ended(child, ())
    while status is not None and (said := os.read(reading, 65536)):
        os.write(1, said)
    status = status or 0
    if mode == "no-report":
        print("The target application terminated without a word.")
        return status
    print("Generating '/tmp/nsys-report-1234.qdstrm'")
    if mode == "no-importer":
        written(output + ".qdstrm", "")
        print("Importer error status: An unknown error occurred.")
        return status
    recorded = [w for w in " ".join(target).split() if w.endswith(".sqlite")][0]
    by_node = recorded.replace("#", "nodes")
    if "--cuda-graph-trace=node" in options and os.path.exists(by_node):
        recorded = by_node
    if "#" in recorded:  # another one every time
        count = recorded.replace("#", "count")
        n = int(open(count).read()) + 1 if os.path.exists(count) else 0
        written(count, str(n))
        recorded = recorded.replace("#", str(n))
    written(output + ".nsys-rep", f"{os.path.realpath(recorded)}\n{child}")
    name = os.path.basename(output)
    print(f"[1/1] [0%   ] {name}\r[1/1] [====100%] {name}\nGenerated:\n    {output}.nsys-rep")
    if mode == "warns":
        print("WARNING: the GPU is tired.")
    return status if status >= 0 else 128 - status


def add_diagnostics(path, started):
    """What nsys says of each process: of the one that it started itself, and of another."""
    import sqlite3

    db = sqlite3.connect(path)
    db.execute("CREATE TABLE DIAGNOSTIC_EVENT (severity INTEGER, text TEXT, globalPid INTEGER)")
    rows = [(2, "No CUDA events collected.", started), (2, "Some events were lost.", started + 1)]
    db.executemany("INSERT INTO DIAGNOSTIC_EVENT VALUES (?, ?, ? << 24)", rows)
    db.commit()
    db.close()


def main():
    """No module but those that Python has loaded: this is started a thousand times, and subprocess, pathlib and shutil take as
    long as all the rest."""
    mode, arguments = os.environ.get("STANDIN_NSYS", ""), sys.argv[1:]
    if arguments == ["--version"]:
        if mode == "broken":
            print("nsys: error while loading shared libraries: libdw.so.1: cannot open shared object file")
            return 127
        print(f"NVIDIA Nsight Systems version {'2019.5.2' if mode == 'old' else '2025.3.2.474-253236389321v0'}")
        return 0
    if arguments == ["profile", "--help"]:
        print(HELP)
        return 0
    if arguments[0] == "profile":
        n = next(i for i, a in enumerate(arguments[1:], 1) if not a.startswith("-"))
        if "STANDIN_ARGS" in os.environ:
            written(os.environ["STANDIN_ARGS"], "\n".join(arguments[1:n]) + "\n")
        return profile(arguments[1:n], arguments[n:], mode)
    if arguments[0] == "export":
        if "STANDIN_EXPORTED" in os.environ:
            with open(os.environ["STANDIN_EXPORTED"], "a") as noted:
                noted.write(" ".join(a for a in arguments if a.startswith("--include")) + "\n")
        if mode == "no-payloads" and "--include-blobs=true" in arguments:
            print("unrecognised option '--include-blobs=true'\n\nusage: nsys export [<args>] [nsys-rep-file]")
            return 1
        if mode == "full-export":
            print("Error: No space left on device")
            return 1
        if mode == "no-export":
            print("QdstrmImporter: error while loading shared libraries: libelf.so.1: cannot open shared object file")
            return 1
        to = next(a for a in arguments if a.startswith("--output=")).split("=", 1)[1]
        recorded, started = open(arguments[-1]).read().splitlines()
        with open(recorded, "rb") as file:
            data = file.read()
        if mode == "slow-export":  # and something beside it that is not the export
            import time

            with open(to + ".part", "wb") as part:
                part.write(data[:5000])
            print(f"[1/1] [0%   ] {to}\r[1/1] [==40%   ] {to}", end="", flush=True)
            time.sleep(float(os.environ.get("STANDIN_SECONDS", "60")))
        with open(to, "wb") as copy:
            copy.write(data)
        if mode == "warns":
            add_diagnostics(to, int(started))
        return 0
    print(f"unrecognised option '{arguments[0]}'")
    return 1


sys.exit(main())
