#!/usr/bin/env python3
"""scrub.py on a small export that is full of secrets: none may remain, and no event row may change; and it must refuse
to write a file in which it finds one."""
import gzip
import os
import sqlite3
import subprocess
import sys
import tempfile

SCRUB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scrub.py")
PID, OTHER = 0x1000000000000 | 77 << 24, 0x1000000000000 | 88 << 24
EXPORT = f"""
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'dlopen(/opt/hidden-place/libcuda.so.1)'),
 (3, '/home/alice/secret-project/main.cu'), (4, 'worker'), (5, 'sshd-of-alice'), (6, 'saxpy'), (7, 'alice-argument');
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT, correlationId INT, nameId INT);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, 20, {PID + 77}, 1, 1);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, correlationId INT, globalPid INT, shortName INT,
 demangledName INT, label INTEGER -- REFERENCES StringIds(id)
);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (25, 40, 1, {PID}, 6, 6, 6);
CREATE TABLE OSRT_API (start INT, end INT, globalTid INT, nameId INT);
INSERT INTO OSRT_API VALUES (1, 5, {PID + 77}, 2);
CREATE TABLE NVTX_EVENTS (start INT, end INT, eventType INT, text TEXT, globalTid INT);
INSERT INTO NVTX_EVENTS VALUES (5, 50, 59, 'step', {PID + 77});
CREATE TABLE PROCESSES (globalPid INT, pid INT, name TEXT);
INSERT INTO PROCESSES VALUES ({PID}, 77, '/home/alice/bin/train --token 1234'), ({OTHER}, 88, '/usr/sbin/sshd-of-alice');
CREATE TABLE ThreadNames (nameId INT, priority INT, globalTid INT);
INSERT INTO ThreadNames VALUES (4, 20, {PID + 77}), (5, 20, {OTHER + 88});
CREATE TABLE ProcessStreams (globalPid INT, filenameId INT, contentId INT);
INSERT INTO ProcessStreams VALUES ({PID}, 3, 7);
CREATE TABLE ANALYSIS_FILE (id INT, filename TEXT); INSERT INTO ANALYSIS_FILE VALUES (1, '/home/alice/x.log');
CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT);
INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('Hostname', 'alices-machine'), ('NvDriverVersion', '580.1'),
 ('DeviceEnvironment', 'PASSWORD=hunter2');
CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT);
INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:COMMAND', 'train'), ('PROCESS_0:USER_NAME', 'alice');
CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', '2025.3'), ('EXPORT_HOST', 'alices-machine');
CREATE TABLE TARGET_INFO_GPU (id INT, name TEXT, uuid TEXT);
INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H200', 'identity-of-the-card');
CREATE TABLE DIAGNOSTIC_EVENT (text TEXT);
INSERT INTO DIAGNOSTIC_EVENT VALUES ('Profiling has started.'), ('see /tmp/quadd/alice.log');
CREATE TABLE TABLE_OF_A_LATER_VERSION (user TEXT); INSERT INTO TABLE_OF_A_LATER_VERSION VALUES ('alice');
"""
SECRETS = (b"alice", b"hidden", b"secret-project", b"hunter2", b"token", b"sshd", b"identity", b"quadd", b"LATER_VERSION")


def scrub(folder, *options):
    output = os.path.join(folder, "out.gz")
    if os.path.exists(output):
        os.remove(output)
    done = subprocess.run([sys.executable, SCRUB, os.path.join(folder, "in.sqlite"), output, *options],
                          capture_output=True, text=True, check=False)
    return done, output


def main():
    with tempfile.TemporaryDirectory() as folder:
        db = sqlite3.connect(os.path.join(folder, "in.sqlite"))
        db.executescript(EXPORT)
        events = [db.execute(f"SELECT * FROM {t}").fetchall() for t in
                  ("CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL", "OSRT_API", "NVTX_EVENTS")]
        db.commit()
        db.close()

        done, output = scrub(folder)
        assert done.returncode == 0, done.stderr
        with gzip.open(output) as file:
            raw = file.read()
        for secret in SECRETS:
            assert secret not in raw, secret
        with open(os.path.join(folder, "result"), "wb") as file:
            file.write(raw)
        db = sqlite3.connect(os.path.join(folder, "result"))
        assert events == [db.execute(f"SELECT * FROM {t}").fetchall() for t in
                          ("CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL", "OSRT_API", "NVTX_EVENTS")]
        assert db.execute("SELECT id, value FROM StringIds ORDER BY id").fetchall() == [
            (1, "cudaLaunchKernel_v7000"), (2, "dlopen(libcuda.so.1)"), (4, "worker"), (6, "saxpy")]
        assert db.execute("SELECT * FROM PROCESSES").fetchall() == [(PID, 77, "train")]
        assert db.execute("SELECT * FROM TARGET_INFO_SYSTEM_ENV").fetchall() == [("NvDriverVersion", "580.1")]
        assert db.execute("SELECT * FROM META_DATA_EXPORT").fetchall() == [("EXPORT_PRODUCT_VERSION", "2025.3")]
        assert db.execute("SELECT * FROM DIAGNOSTIC_EVENT").fetchall() == [("Profiling has started.",)]
        db.close()

        done, again = scrub(folder)
        with open(again, "rb") as file:
            assert gzip.decompress(file.read()) == raw, "not the same bytes the second time"

        # What it may not touch, an event's own text, it must refuse.
        done, output = scrub(folder, "--secret", "step")
        assert done.returncode != 0 and "secret: step" in done.stderr, done.stderr
        assert not os.path.exists(output), "wrote a file with a secret in it"
    print("ok")


if __name__ == "__main__":
    main()
