#!/usr/bin/env python3
"""A wheel is what its name says, and works where it is installed.

    check_wheel.py WHEEL

No file in it asks for a newer GLIBC than its tag, injected libraries included; RECORD has every file with its hash; and pip
installs it into an environment without a network, where the command says what the example's report says.
"""

import base64
import csv
import hashlib
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples/training-step"


def glibc_of(data, folder):
    path = folder / "file"
    path.write_bytes(data)
    said = subprocess.run(["objdump", "-T", path], capture_output=True, text=True, check=True).stdout
    return max(tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_([0-9.]+)", said))


def main():
    wheel = pathlib.Path(sys.argv[1])
    tag = re.fullmatch(r"gapline-[0-9.]+-py3-none-manylinux_(\d+)_(\d+)_\w+\.whl", wheel.name)
    assert tag, f"{wheel.name}: no name of a wheel"
    promised = tuple(map(int, tag.groups()))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
            data = {name: archive.read(name) for name in names}
        found = {name: glibc_of(bytes_, folder) for name, bytes_ in data.items() if bytes_.startswith(b"\x7fELF")}
        assert "gapline/bin/gapline" in found and "gapline/lib/gapline/libgapline-osrt.so" in found, found
        newer = {name: version for name, version in found.items() if version > promised}
        assert not newer, f"newer than {promised}: {newer}"

        (record,) = (name for name in names if name.endswith(".dist-info/RECORD"))
        rows = {row[0]: row[1:] for row in csv.reader(data[record].decode().splitlines())}
        assert sorted(rows) == sorted(names) and len(set(names)) == len(names)
        for name, (digest, size) in rows.items():
            if name != record:
                made = base64.urlsafe_b64encode(hashlib.sha256(data[name]).digest()).rstrip(b"=").decode()
                assert digest == f"sha256={made}" and int(size) == len(data[name]), name
        metadata = data[record.replace("RECORD", "METADATA")].decode().split("\n\n")[0]
        assert all(value for _, value in (line.split(": ", 1) for line in metadata.splitlines())), "a field without a value"
        assert len([line for line in metadata.splitlines() if line.startswith("Summary: ")]) == 1 and "Description-Content-Type: text/markdown" in metadata
        wheel_file = data[record.replace("RECORD", "WHEEL")].decode().splitlines()
        tag_line = "Tag: " + "-".join(wheel.stem.split("-")[2:])
        assert {"Wheel-Version: 1.0", "Root-Is-Purelib: false", tag_line} <= set(wheel_file), wheel_file
        assert b"gapline = gapline.__main__:main" in data[record.replace("RECORD", "entry_points.txt")]
        for field in "Metadata-Version: 2.1", "Name: gapline", "License: MIT", f"Version: {wheel.name.split('-')[1]}":
            assert field in metadata.splitlines(), field

        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
        subprocess.run([folder / "venv/bin/pip", "install", "--quiet", "--no-index", wheel.resolve()], check=True)
        program = folder / "venv/bin/gapline"
        command = [program, "report", EXAMPLE / "baseline.sqlite.gz", EXAMPLE / "fixed.sqlite.gz", "-q", "--json", folder / "said"]
        subprocess.run(command + ["-o", folder / "said.html"], check=True)
        assert (folder / "said").read_bytes() == (EXAMPLE / "report.json").read_bytes(), "the report is another one"
        assert (folder / "said.html").read_bytes() == (EXAMPLE / "report.html").read_bytes(), "the page is another one"
        subprocess.run([program, "demo", "-q"], cwd=folder, check=True)
        assert (folder / "gapline-demo.html").read_bytes() == (EXAMPLE / "report.html").read_bytes(), "the demo is another one"
        assert (folder / "venv/share/man/man1/gapline.1").exists() and (folder / "venv/share/bash-completion").exists()
        subprocess.run([folder / "venv/bin/pip", "uninstall", "--quiet", "-y", "gapline"], check=True)
        left = [path for path in (folder / "venv").rglob("*gapline*") if "__pycache__" not in path.parts]
        assert not left, left
    highest = ".".join(map(str, max(found.values())))
    print(f"{wheel.name}: {len(found)} programs and libraries, glibc {highest} at most; installed, run, gone")


if __name__ == "__main__":
    main()
