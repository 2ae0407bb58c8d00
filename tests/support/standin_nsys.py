#!/usr/bin/python3 -IS
"""Plays nsys for tests: the same commands, files and habits, but the profile is the one that the target names.

The target is started in a session of its own, with pipes in front of its output, as nsys does it. The first word of its
command that ends with .sqlite is what is "recorded", # in it counting from 0, or, where graphs are to be traced node by
node, "nodes" if there is such a file; `nsys export` copies it. STANDIN_NSYS says what goes wrong:
old, broken, no-report, no-importer, no-export, slow-export, refused, dies, closes-descriptors, full, full-stream, full-export, no-payloads. STANDIN_ARGS: a file
that gets the options, STANDIN_EXPORTED one that gets those of exports, STANDIN_STARTED one that the target writes to when it
has started: "dies" is after that.
"""

import os
import sys

HELP = "\t--cpuctxsw=\n\t--cuda-graph-trace=\n\t--kill=\n\t--wait=\n\t--capture-range-end=\n\t-t, --trace=\n"


def profile(options, target, mode):
    import contextlib, pathlib, signal, subprocess, time

    if mode in ("full", "full-stream"):
        if mode == "full-stream":  # what was recorded, before a report is made of it
            output = next(o for o in options if o.startswith("--output=")).split("=", 1)[1]
            pathlib.Path(output + ".qdstrm").write_text("stream")
        print("Error: cannot write the report: No space left on device")
        return 1
    if mode == "refused":
        print("Error: ptrace failed: Operation not permitted")
        return 1
    started = pathlib.Path(os.environ.get("STANDIN_STARTED", "/dev/null"))
    before = started.stat().st_size if started.exists() else 0
    report = pathlib.Path(next(o for o in options if o.startswith("--output=")).split("=", 1)[1])
    duration = [float(o.split("=")[1]) for o in options if o.startswith("--duration=")]
    print("Collecting data...")
    sys.stdout.flush()
    child = subprocess.Popen(
        target,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        close_fds=mode == "closes-descriptors",
    )
    def end(*_):
        with contextlib.suppress(ProcessLookupError):  # it may have ended by itself
            os.killpg(child.pid, signal.SIGTERM)

    signal.signal(signal.SIGINT, end)
    if mode == "dies":
        while not started.exists() or started.stat().st_size == before:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGKILL)
    try:
        child.wait(timeout=duration[0] if duration else None)
    except subprocess.TimeoutExpired:
        if "--kill=none" not in options:
            number = signal.SIGKILL if "--kill=sigkill" in options else signal.SIGTERM
            os.killpg(child.pid, number)
            child.wait()
    if child.returncode is not None:
        os.write(1, child.stdout.read())
    status = child.returncode or 0
    if mode == "no-report":
        print("The target application terminated without a word.")
        return status
    print("Generating '/tmp/nsys-report-1234.qdstrm'")
    if mode == "no-importer":
        report.with_name(report.name + ".qdstrm").write_text("")
        print("Importer error status: An unknown error occurred.")
        return status
    recorded = [w for w in " ".join(target).split() if w.endswith(".sqlite")][0]
    by_node = pathlib.Path(recorded.replace("#", "nodes"))
    if "--cuda-graph-trace=node" in options and by_node.exists():
        recorded = str(by_node)
    if "#" in recorded:  # another one every time
        count = pathlib.Path(recorded.replace("#", "count"))
        n = int(count.read_text()) + 1 if count.exists() else 0
        count.write_text(str(n))
        recorded = recorded.replace("#", str(n))
    report.with_name(report.name + ".nsys-rep").write_text(f"{pathlib.Path(recorded).resolve()}\n{child.pid}")
    print(f"[1/1] [0%   ] {report.name}\r[1/1] [====100%] {report.name}\nGenerated:\n    {report}.nsys-rep")
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
    """Modules are imported where they are needed: this is started a thousand times, and most of its time is theirs."""
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
    import pathlib, shutil, time

    if arguments[0] == "profile":
        n = next(i for i, a in enumerate(arguments[1:], 1) if not a.startswith("-"))
        if "STANDIN_ARGS" in os.environ:
            pathlib.Path(os.environ["STANDIN_ARGS"]).write_text("\n".join(arguments[1:n]) + "\n")
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
        recorded, started = pathlib.Path(arguments[-1]).read_text().splitlines()
        if mode == "slow-export":  # and something beside it that is not the export
            pathlib.Path(to + ".part").write_bytes(pathlib.Path(recorded).read_bytes()[:5000])
            print(f"[1/1] [0%   ] {to}\r[1/1] [==40%   ] {to}", end="", flush=True)
            time.sleep(float(os.environ.get("STANDIN_SECONDS", "60")))
        shutil.copy(recorded, to)
        if mode == "warns":
            add_diagnostics(to, int(started))
        return 0
    print(f"unrecognised option '{arguments[0]}'")
    return 1


sys.exit(main())
