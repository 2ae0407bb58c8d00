#!/usr/bin/env python3
"""Scrubs profiles and looks for what must not be in the copy, byte by byte, and for what must be the same.

    check_scrub.py GAPLINE

Every text of a profile with the tables of all layouts in profiles/, and of more that nsys writes, is a marker of its
own; those that a copy still holds must be exactly the ones listed here. What a profile tells about people is looked for
in the bytes of its copy, in UTF-8, UTF-16 and base64. Then the copies of small profiles, of profiles by gapline itself,
and of the captures in ../shared/captures beside the repository (or where GAPLINE_CAPTURES says), must give the same JSON; in CI (support/amount.py) every third.
"""

import base64
import gzip
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tiny_profile
from amount import some

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM, OTHER = 0x1000000000000 | 77 << 24, 0x1000000000000 | 88 << 24

# Tables with texts that the layouts of the tests lack, as nsys's own DDL has them; and two that nobody knows.
MORE_TABLES = """
CREATE TABLE ANALYSIS_FILE (id INTEGER, filename TEXT, content BLOB, globalPid INTEGER, contentId INTEGER);
CREATE TABLE ProcessStreams (globalPid INTEGER, filenameId INTEGER, contentId INTEGER);
CREATE TABLE OSRT_FILE_ACCESS_DESCRIPTORS (fileAccessId INTEGER, processId INTEGER, filePath TEXT);
CREATE TABLE SAMPLING_CALLCHAINS (id INTEGER, symbol INTEGER, module INTEGER, symbolName TEXT);
CREATE TABLE TARGET_INFO_NIC_INFO (globalId INTEGER, stateName TEXT, nicId INTEGER, name TEXT, GUID INTEGER);
CREATE TABLE TARGET_INFO_XMC_SPEC (vmId INTEGER, clientId INTEGER, type TEXT, name TEXT, groupId TEXT);
CREATE TABLE TARGET_INFO_NVTX_CUDA_STREAM (name TEXT, hwId INTEGER, vmId INTEGER, processId INTEGER, streamId INTEGER);
CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER, globalPid INTEGER, bytes INTEGER, name TEXT);
CREATE TABLE NVTX_PAYLOAD_SCHEMAS (domainId INTEGER, schemaId INTEGER, name TEXT);
CREATE TABLE ENUM_CUDA_MEM_KIND (id INTEGER PRIMARY KEY, name TEXT, label TEXT);
CREATE TABLE ENUM_OF_SOMEBODY (id INTEGER PRIMARY KEY, name TEXT, label TEXT);
CREATE TABLE EXPORT_META_DATA (name TEXT, value TEXT);
CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT);
CREATE TABLE GAPLINE_CAPTURE (name TEXT, value TEXT);
CREATE TABLE GAPLINE_GPU (gpu INTEGER, uuid TEXT, bus TEXT, name TEXT, max_sm_mhz INTEGER);
CREATE TABLE GENERIC_EVENTS (genericEventId INTEGER, rawTimestamp INTEGER, timestamp INTEGER, typeId INTEGER, data TEXT);
CREATE TABLE GENERIC_EVENT_TYPES (typeId INTEGER, sourceId INTEGER, data TEXT);
CREATE TABLE OF_A_LATER_VERSION (user TEXT);
CREATE TABLE cudaKernelStats (demangledName TEXT, num INTEGER);
"""

# The texts that results or nsys's reports show.
KEPT = {
    "NVTX_EVENTS.text",
    "PROCESSES.name",
    "DIAGNOSTIC_EVENT.text",
    "TARGET_INFO_GPU.name",
    "TARGET_INFO_GPU.chipName",
    "TARGET_INFO_CUDA_GPU.name",
    "TARGET_INFO_NVTX_CUDA_STREAM.name",
    "CUDA_GPU_MEMORY_USAGE_EVENTS.name",
    "ENUM_CUDA_MEM_KIND.name",
    "ENUM_CUDA_MEM_KIND.label",
    "GAPLINE_GPU.name",
    "string of a kept event",
}

METADATA = [  # table, name, value
    ("TARGET_INFO_SYSTEM_ENV", "Hostname", "orca17.deep.sea"),
    ("TARGET_INFO_SYSTEM_ENV", "DeviceEnvironment", "PATH=/usr/bin\nHOME=/data/people/wilhelmine\nTOKEN=hunter2\nX=/lakehouse/q3\nCUDA_HOME=/usr/local/cuda"),
    ("META_DATA_CAPTURE", "PROCESS_0:COMMAND", "train --token 1234"),
    ("META_DATA_CAPTURE", "PROCESS_0:USER_NAME", "jdoe"),
    ("META_DATA_CAPTURE", "PROCESS_0:ENVIRONMENT_VARIABLE", 'LOGNAME="brunhild"'),
    ("META_DATA_CAPTURE", "PROCESS_0:ENVIRONMENT_VARIABLE", 'HOME="/data/people/sieglinde"'),
    ("META_DATA_CAPTURE", "PROCESS_0:ENVIRONMENT_VARIABLE", 'CUDA_HOME="/usr/local/cuda"'),
    ("META_DATA_CAPTURE", "PROCESS_0:ENVIRONMENT_VARIABLE", 'JAVA_HOME="/home/ortlinde"'),
    ("META_DATA_CAPTURE", "PROCESS_0:ENVIRONMENT_VARIABLE", 'USER="cuda"'),
    ("META_DATA_CAPTURE", "PROCESS_0:ENVIRONMENT_VARIABLE", 'LOGNAME="profiling"'),
    ("META_DATA_CAPTURE", "PROCESS_0:ENVIRONMENT_VARIABLE", 'HOSTNAME="cupti"'),
    ("META_DATA_CAPTURE", "START_TRIGGER", "a trigger with a story"),
    ("META_DATA_EXPORT", "EXPORT_HOST", "exporter"),
    ("META_DATA_EXPORT", "EXPORT_PRODUCT_VERSION", "2025.3.1.90"),
]
SECRETS = ["orca17", "deep.sea", "wilhelmine", "jdoe", "exporter", "hunter2", "1234", "story", "people", "anton"]
SECRETS += ["mermaid", "lorelei", "rhine7", "10.11.12.13", "192.168.77.5", "fe80::5054", "52:54:00:12", "52-54-00-12", "0123abcd-45ef"]
SECRETS += ["lakehouse", "zebrafish"]  # a folder of the metadata; a process that has nothing to do with it
# A name that is kept, and what becomes of it.
MASKED = [
    ("step of jdoe", "step of [user A]"),
    ("jdoe_model/forward", "[user A]_model/forward"),
    ("load on ORCA17", "load on [host A]"),
    ("load on orca17.deep.sea:80", "load on [host B]:80"),
    ("dlopen(/data/people/lib.so.1)", "dlopen([path A]/lib.so.1)"),
    ("read ~/people/x.py", "read [path B]/x.py"),
    ("/home/anton", "[path C]"),
    ("C:\\people\\x.exe", "C:[path D]/x.exe"),
    ("https://deep.sea/people/x", "https:[path E]/x"),
    ("wilhelmine's batch", "[user B]'s batch"),
    ("open /lakehouse/teams/x", "open [path F]/x"),
    ("/weights/people/net.onnx", "[path G]/net.onnx"),
    ("cc -I/mnt/people/inc -c", "cc -I[path H]/inc -c"),
    ("config=>/mnt/people/y", "config=>[path H]/y"),
    ('"\\/mnt\\/people\\/z"', '"[path I]/z"'),
    ("read ~anton/people/x.py", "read [path J]/x.py"),
    ("open /mnt/people/My Documents/x y.pt", "open [path K]/x y.pt"),
    ("clone https://anton:hunter2@example.org/x", "clone https://[secret A]@example.org/x"),
    ("login password=hunter2 now", "login password=[secret B] now"),
    ("train --token hunter2x", "train --token [secret C]"),
    ("ghp_0123456789abcdefghij0123456789", "[secret D]"),
    ("Authorization: Bearer hunter2.yyy", "Authorization: Bearer [secret E]"),
    ("next_token softmax", "next_token softmax"),
    ("token embedding", "token embedding"),
    ("ask-me sk-learn a->b/c T1>/T2", "ask-me sk-learn a->b/c T1>/T2"),
    ("/backbone/block.0/Conv + /backbone/Add", "/backbone/block.0/Conv + /backbone/Add"),
    ("forward/backward", "forward/backward"),
    ("void f<(int)4/(int)2>(T1 *)", "void f<(int)4/(int)2>(T1 *)"),
    ("a / b", "a / b"),
    ("jdoes", "jdoes"),
    ("brunhild's, sieglinde's and ortlinde's", "[user C]'s, [user D]'s and [user E]'s"),
    ("mail jane.d+x@mermaid.example, now", "mail [address A], now"),
    ("ssh lorelei@rhine7 true", "ssh [address B] true"),
    ("listen 10.11.12.13:8080", "listen [address C]:8080"),
    ("from_192.168.77.5_x", "from_[address D]_x"),
    ("to fe80::5054:ff:fe12:3456 by", "to [address E] by"),
    ("nic 52:54:00:12:34:5f up", "nic [address F] up"),
    ("nic 52-54-00-12-34-5e", "nic [address G]"),
    ("join rhine7:29500", "join [address H]:29500"),
    ("join tcp://mermaid:295", "join tcp://[address I]:295"),
    ("db.mermaid.example:5432/x", "[address J]:5432/x"),
    ("on GPU-0123abcd-45ef-6789-abcd-0123456789ab now", "on [uuid A] now"),
    ("device=MIG-0123abcd-45ef-6789-abcd-0123456789ac", "device=[uuid B]"),
    ("connect user=lorelei db", "connect user=[secret F] db"),
    ("key -----BEGIN RSA PRIVATE KEY-----\nMIImermaid=\n-----END RSA PRIVATE KEY----- end", "key [secret G] end"),
    ("key -----BEGIN PRIVATE KEY-----\nMIImermaid", "key [secret H]"),
    ("--passphrase mermaids", "--passphrase [secret I]"),
    ("step:1000 layer.3:12 train.py:4321 a::b 12:30:59", "step:1000 layer.3:12 train.py:4321 a::b 12:30:59"),
    ("memcpy@plt memcpy@GLIBC_2.14 q@k libcudnn.so.9.1.0.70 580.65.06", "memcpy@plt memcpy@GLIBC_2.14 q@k libcudnn.so.9.1.0.70 580.65.06"),
    ("std::add::cafe<1> dead::beef superuser=1", "std::add::cafe<1> dead::beef superuser=1"),
    ("CUDA profiling initialization", "CUDA profiling initialization"),
]
PROGRAMS = [("/home/anton/bin/train --token 1234", "train"), ("/opt/x/jdoe-tool", "[user A]-tool")]


def tables_of_layouts():
    """name -> columns as [(name, is a key)], the union over all layouts."""
    tables = {}
    texts = [path.read_text(encoding="utf-8") for path in sorted((HERE / "profiles").glob("layout_*.sql"))]
    for text in texts + [MORE_TABLES]:
        db = sqlite3.connect(":memory:")
        db.executescript(text)
        for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            known = tables.setdefault(table, [])
            for _, name, kind, _, _, key in db.execute(f'PRAGMA table_info("{table}")'):
                if name not in [column[0] for column in known]:
                    known.append((name, kind, key))
        db.close()
    return tables


def make_marked(path):
    """Every text is a marker that says where it stood; numbers are 1, and in two more rows texts and blobs, too."""
    db = sqlite3.connect(path)
    db.execute("PRAGMA secure_delete = OFF")
    for table, columns in tables_of_layouts().items():
        declared = ", ".join(f'"{name}" {kind}{" PRIMARY KEY" if key else ""}' for name, kind, key in columns)
        db.execute(f'CREATE TABLE "{table}" ({declared})')
        if table == "StringIds":
            continue
        marks = ", ".join("?" * len(columns))
        for row, wrap in enumerate((None, str, str.encode)):
            values = []
            for name, kind, key in columns:
                mark = f"leak:{table}.{name}."
                if key:
                    values.append(row + 1)
                elif wrap:
                    values.append(wrap(mark))
                elif kind == "TEXT":
                    values.append(mark)
                elif name in ("globalPid", "globalTid"):
                    values.append(PROGRAM)
                else:
                    values.append(2 if name == "severity" else 3 if name in ("symbol", "filenameId") else 1)
            db.execute(f'INSERT INTO "{table}" VALUES ({marks})', values)
    strings = [(1, "leak:string of a kept event."), (2, "leak:string of nothing."), (3, "leak:string of a stack.")]
    db.executemany("INSERT INTO StringIds VALUES (?, ?)", strings)
    db.execute("INSERT INTO PROCESSES (globalPid, pid, name) VALUES (?, 88, 'leak:another-process.')", (OTHER,))
    db.execute("CREATE TABLE gone (text TEXT)")
    db.executemany("INSERT INTO gone VALUES (?)", [(f"leak:free page {i}.",) for i in range(2000)])
    db.commit()
    db.execute("DROP TABLE gone")
    db.commit()
    db.close()


def forms(text):
    """The text as bytes of which the secrets in it can be made out again, in the ways that metadata is written."""
    return [text.encode(code) for code in ("utf-8", "utf-16-le", "utf-16-be")] + [base64.b64encode(text.encode())]


def traces(secret):
    """What a secret looks like in a file: as it is, in UTF-16, and in base64 at each of the three offsets."""
    found = [secret.encode(code) for code in ("utf-8", "utf-16-le", "utf-16-be")]
    for offset in range(3):
        whole = base64.b64encode(b"\0" * offset + secret.encode())
        found.append(whole[(0, 2, 3)[offset] : (offset + len(secret)) * 8 // 6])
    return [trace.lower() for trace in found]


def make_telling(path):
    """A small profile whose metadata and names tell about people."""
    tiny_profile.write(path, steps=30)
    db = sqlite3.connect(path)
    db.executescript(
        "CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT);"
        "CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT);"
        "CREATE TABLE GAPLINE_CAPTURE (name TEXT, value TEXT);"
        "CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);"
        "CREATE TABLE ThreadNames (nameId INTEGER, priority INTEGER, globalTid INTEGER);"
    )
    for table, name, value in METADATA:
        db.execute(f"INSERT INTO {table} VALUES (?, ?)", (name, value))
    pid = tiny_profile.GLOBAL_PID
    for i, (program, _) in enumerate(PROGRAMS):
        db.execute("INSERT INTO PROCESSES VALUES (?, 100, ?)", (pid + (i << 24), program))
    tid = (pid + (1 << 24)) | 5
    for i, (name, _) in enumerate(MASKED):
        db.execute("INSERT INTO StringIds VALUES (?, ?)", (1000 + i, name))
        row = (10 + i, 20 + i, 59, tid, 1000 + i)
        db.execute("INSERT INTO NVTX_EVENTS (start, end, eventType, globalTid, textId) VALUES (?, ?, ?, ?, ?)", row)
    db.execute("INSERT INTO StringIds VALUES (2000, 'a thread of jdoe''s other program')")
    db.execute("INSERT INTO ThreadNames VALUES (2000, 20, ?)", (OTHER + 88,))
    db.execute("INSERT INTO PROCESSES VALUES (?, 88, '/usr/bin/zebrafish --of anton')", (OTHER,))
    for column in ("jsonText", "binaryData"):
        db.execute(f"ALTER TABLE NVTX_EVENTS ADD COLUMN {column} TEXT")
    db.execute("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN image BLOB")
    db.execute("CREATE TABLE OF_A_LATER_VERSION (data BLOB)")
    for form in forms(" ".join(SECRETS)):
        db.execute("INSERT INTO OF_A_LATER_VERSION VALUES (?)", (form,))
        db.execute("INSERT INTO META_DATA_CAPTURE VALUES ('START_TRIGGER', ?)", (form,))
        db.execute("INSERT INTO GAPLINE_CAPTURE VALUES ('notes', ?)", (form,))
        db.execute("UPDATE NVTX_EVENTS SET jsonText = ?, binaryData = ? WHERE start < 30", (form.decode("latin-1"), form))
        db.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET image = ? WHERE rowid % 5 = 0", (form,))
    db.commit()
    db.close()


def run(gapline, *arguments, folder=None):
    return subprocess.run([gapline, *map(str, arguments)], cwd=folder, capture_output=True, text=True, check=False)


def scrub(gapline, profile, copy, *options):
    done = run(gapline, "scrub", "--force", profile, "-o", copy, *options)
    assert done.returncode == 0, f"{profile}: {done.stderr}"
    return done.stdout


def check_leaks(gapline, folder):
    make_marked(folder / "marked.sqlite")
    scrub(gapline, folder / "marked.sqlite", folder / "copy.sqlite")
    left = {m.decode() for m in re.findall(rb"leak:([^.]*(?:\.\w+)?)\.", (folder / "copy.sqlite").read_bytes())}
    assert left == KEPT, f"too much: {sorted(left - KEPT)}; too little: {sorted(KEPT - left)}"
    everywhere = set(re.findall(rb"leak:[^.]*(?:\.\w+)?\.", (folder / "marked.sqlite").read_bytes()))
    assert len(everywhere) > 2000, len(everywhere)
    print(f"{len(everywhere)} marked texts, {len(left)} of them kept")


def check_masks(gapline, folder):
    make_telling(folder / "telling.sqlite")
    said = scrub(gapline, folder / "telling.sqlite", folder / "copy.sqlite")
    raw = (folder / "copy.sqlite").read_bytes().lower().replace(b"jdoes", b"")  # that is somebody else
    telling = (folder / "telling.sqlite").read_bytes().lower()
    for secret in SECRETS:
        found = [trace for trace in traces(secret) if trace in raw]
        assert not found, found
        planted = sum(trace in telling for trace in traces(secret))
        assert planted >= 4, f"{secret}: only {planted} traces of it are in the original"
    db = sqlite3.connect(folder / "copy.sqlite")
    have = [row[0] for row in db.execute("SELECT value FROM StringIds WHERE id BETWEEN 1000 AND 1999 ORDER BY id")]
    assert have == [masked for _, masked in MASKED], have
    assert [row[0] for row in db.execute("SELECT name FROM PROCESSES")] == [name for _, name in PROGRAMS]
    assert b"a thread of" not in raw, "the name of another program's thread"
    db.close()
    changed = sum(name != masked for name, masked in MASKED) + len(PROGRAMS)
    assert f"{changed} names were changed" in said, said
    # The same in a database of UTF-16.
    db = sqlite3.connect(folder / "telling.sqlite")
    wide = sqlite3.connect(folder / "wide.sqlite")
    wide.executescript("PRAGMA encoding = 'UTF-16le';\n" + "\n".join(db.iterdump()))
    wide.close()
    db.close()
    scrub(gapline, folder / "wide.sqlite", folder / "narrow.sqlite")
    assert (folder / "narrow.sqlite").read_bytes() == (folder / "copy.sqlite").read_bytes()
    scrub(gapline, folder / "telling.sqlite", folder / "hidden.sqlite", "--hide", "data_load", "--hide", "profiling")
    hidden = (folder / "hidden.sqlite").read_bytes()
    assert b"data_load" not in hidden and b"CUDA profiling" not in hidden and b"cuda profiling" in telling


def json_of(gapline, folder, name):
    done = run(gapline, "report", name, name, "--quiet", "--json", "-", folder=folder)
    return done.returncode, done.stdout


def without_samples(result):
    """What is said of a profile whose samples of the CPU were left out; an error says nothing of them."""
    result = json.loads(result)
    if result.get("result") == "error":
        return result
    result.pop("functions", None)
    for finding in result["findings"]:
        finding["text"] = re.sub(r" Of the [^']* % is in '.*' \(\d+ samples\)\.$", "", finding["text"])
        finding["more"] = [fact for fact in finding["more"] if fact["id"] != "time_in_function"]
    return result


def check_same(gapline, folder, profile):
    """0: no result to compare."""
    copied = folder / "copied"
    copied.mkdir(exist_ok=True)
    said = scrub(gapline, profile, copied / profile.name)
    status, before = json_of(gapline, profile.parent, profile.name)
    after = json_of(gapline, copied, profile.name)
    assert after[0] == status, f"{profile}: exit status {status}, of the copy {after[0]}"
    assert "no name was changed" in said, said
    assert without_samples(after[1]) == without_samples(before), f"{profile}: another result"
    assert '"functions": {' not in after[1], f"{profile}: samples are in the copy"
    if '"functions": {' in before:
        scrub(gapline, profile, copied / profile.name, "--keep-stacks")
        assert json_of(gapline, copied, profile.name)[1] == before, f"{profile}: another result with stacks"
    return status == 0


def check_own(gapline, folder):
    """A profile that `gapline capture` has annotated, then one with what a machine with GPUs adds."""
    tiny_profile.write(folder / "recorded.sqlite")
    done = subprocess.run(
        [gapline, "capture", "--collector", "nsys", "-o", "own.sqlite", "--", "test", "-e", "recorded.sqlite"],
        cwd=folder,
        env=os.environ
        | {"GAPLINE_NSYS": str(HERE.parent / "support/standin_nsys.py")}
        | {"SLURM_PROCID": "2", "SLURM_NTASKS": "4", "SLURM_JOB_ID": "991", "WORLD_SIZE": "4; rm", "PMI_RANK": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    db = sqlite3.connect(folder / "own.sqlite")
    noted = dict(db.execute("SELECT name, value FROM GAPLINE_JOB"))
    ranks = {"SLURM_PROCID": "2", "SLURM_NTASKS": "4"}
    assert noted == ranks | {"host": os.uname().nodename, "SLURM_JOB_ID": "991"}, noted
    subprocess.run([gapline, "scrub", "own.sqlite", "-o", "shared.sqlite", "-q"], cwd=folder, check=True)
    shared = sqlite3.connect(folder / "shared.sqlite")
    assert dict(shared.execute("SELECT name, value FROM GAPLINE_JOB")) == ranks
    assert db.execute("SELECT count(*) FROM GAPLINE_CAPTURE").fetchone()[0] >= 4
    assert check_same(gapline, folder, folder / "own.sqlite")
    uuid = "0123abcd-89ab-cdef-0123-456789abcdef"
    db.executescript(
        "ALTER TABLE TARGET_INFO_GPU ADD COLUMN uuid TEXT; ALTER TABLE TARGET_INFO_GPU ADD COLUMN busLocation TEXT;"
        "INSERT INTO GAPLINE_CAPTURE VALUES ('cupti', '13.0.1'), ('complete', 'the program was killed by SIGKILL'),"
        " ('dropped', '7');"
        "DELETE FROM GAPLINE_CAPTURE WHERE name IN ('collector', 'gpu_state');"
        "INSERT INTO GAPLINE_CAPTURE VALUES ('collector', 'cupti'), ('gpu_state', 'NVML');"
        "INSERT INTO TARGET_INFO_GPU (id, name, uuid, busLocation) VALUES (1, 'another', 'GPU-ff', '0000:19:00.0');"
        f"UPDATE TARGET_INFO_GPU SET uuid = '{uuid}', busLocation = '0000:18:00.0' WHERE id = 0;"
        "DELETE FROM GAPLINE_GPU; DELETE FROM GAPLINE_GPU_STATE;"
        f"INSERT INTO GAPLINE_GPU VALUES (3, 'GPU-{uuid.upper()}', NULL, 'Test GPU', 1980, 2);"
        "INSERT INTO GAPLINE_GPU VALUES (4, 'GPU-FF', '00000000:19:00.0', 'another', 1980, NULL);"
    )
    for i in range(30):
        sample = (i * 2_000_000, 3 + i % 2, 1400 + i, 2000, 300_000, 55, 97, 4)
        db.execute("INSERT INTO GAPLINE_GPU_STATE VALUES (?, ?, ?, ?, ?, ?, ?, ?)", sample)
    db.commit()
    db.close()
    assert check_same(gapline, folder, folder / "own.sqlite")
    said = json_of(gapline, folder, "own.sqlite")[1]
    assert '"cupti"' in said and "SIGKILL" in said and "14" in said, said
    assert uuid[:8] not in (folder / "copied/own.sqlite").read_text("latin-1").lower()


def check_several_processes(gapline, folder):
    """Each process with events keeps its name, and its threads theirs."""
    tiny_profile.write(folder / "several.sqlite")
    db = sqlite3.connect(folder / "several.sqlite")
    second = tiny_profile.GLOBAL_PID + (5 << 24)
    db.executescript(
        "CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);"
        "CREATE TABLE ThreadNames (nameId INTEGER, priority INTEGER, globalTid INTEGER);"
        "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER);"
    )
    names = [(tiny_profile.GLOBAL_PID, "rank0"), (second, "rank1"), (OTHER, "sshd"), (OTHER + (1 << 24), "vim")]
    for i, (process, name) in enumerate(names):
        db.execute("INSERT INTO PROCESSES VALUES (?, ?, ?)", (process, process >> 24 & 0xFFFFFF, name))
        db.execute("INSERT INTO StringIds VALUES (?, ?)", (500 + i, f"main of {name}"))
        db.execute("INSERT INTO ThreadNames VALUES (?, 20, ?)", (500 + i, process | tiny_profile.TID))
    for table, column in ("KERNEL", "globalPid"), ("RUNTIME", "globalTid"):
        table = f"CUPTI_ACTIVITY_KIND_{table}"
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        values = [f"{c} + {5 << 24}" if c == column else c for c in columns]
        db.execute(f"INSERT INTO {table} SELECT {', '.join(values)} FROM {table}")
    db.commit()
    db.close()
    assert check_same(gapline, folder, folder / "several.sqlite")
    db = sqlite3.connect(folder / "copied/several.sqlite")
    assert [row[0] for row in db.execute("SELECT name FROM PROCESSES ORDER BY name")] == ["rank0", "rank1"]
    threads = db.execute("SELECT value FROM ThreadNames JOIN StringIds ON id = nameId ORDER BY value").fetchall()
    assert threads == [("main of rank0",), ("main of rank1",)], threads
    assert not re.search(b"sshd|vim", (folder / "copied/several.sqlite").read_bytes())
    db.close()


SAMPLES = [  # what nsys before 2023 exported of the GPU's counters, and what stays of it
    ('{"SMs Active": "40", "Tensor Active": 3, "GPC Clock Frequency [MHz]": "1980"}', '{"SMs Active": "40", "Tensor Active": "3"}'),
    ('{"Name": "jdoe", "SM Active /mnt/people/x": " 7 of jdoe", "SM Issue": "jdoe"}', '{"SM Active [path A]/x": "7"}'),
    ('{"NVLink RX Requests [%]": "1", "NVLink RX Responses [%]": "2.5"}', '{"NVLink RX Requests [%]": "1", "NVLink RX Responses [%]": "2.5"}'),
    ('{"comm": "jdoe", "prev_pid": "77", "args": {"SMs Active": "5"}}', None),  # another source's
    ('{"SMs Active": "40"', None),
    ('{"SMs Active\\u0001": "40", "SMs Active \\" jdoe": "1"}', None),
    ("jdoe", None),
    (None, None),
    (40, None),
]


def check_samples(gapline, folder):
    """Counters in JSON stay, with their names as they were but for what tells about people; nothing else does."""
    tiny_profile.write(folder / "samples.sqlite")
    db = sqlite3.connect(folder / "samples.sqlite")
    db.execute("CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT)")
    db.execute("INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('Hostname', 'orca17')")
    db.execute("CREATE TABLE GENERIC_EVENT_SOURCES (sourceId INTEGER, data TEXT)")
    db.execute("INSERT INTO GENERIC_EVENT_SOURCES VALUES (1, 'jdoe')")
    db.execute("CREATE TABLE GENERIC_EVENTS (rawTimestamp INTEGER, timestamp INTEGER, typeId INTEGER, globalTid INTEGER, data TEXT)")
    db.executemany("INSERT INTO GENERIC_EVENTS VALUES (?1, ?1, 256, 77, ?2)", [(i, text) for i, (text, _) in enumerate(SAMPLES)])
    db.commit()
    db.close()
    said = scrub(gapline, folder / "samples.sqlite", folder / "copy.sqlite")
    db = sqlite3.connect(folder / "copy.sqlite")
    have = db.execute("SELECT rawTimestamp, timestamp, typeId, data FROM GENERIC_EVENTS ORDER BY timestamp").fetchall()
    wanted = [(i, i, 256, text) for i, (_, text) in enumerate(SAMPLES) if text]
    assert have == wanted, have
    assert "6 events of other sources" in said and "GENERIC_EVENT_SOURCES" in said, said
    assert b"jdoe" not in (folder / "copy.sqlite").read_bytes()
    db.close()


def check_files(gapline, folder):
    tiny_profile.write(folder / "tiny.sqlite")
    scrub(gapline, folder / "tiny.sqlite", folder / "a.sqlite")
    scrub(gapline, folder / "tiny.sqlite", folder / "b.sqlite.gz")
    plain = (folder / "a.sqlite").read_bytes()
    packed = (folder / "b.sqlite.gz").read_bytes()
    assert gzip.decompress(packed) == plain
    scrub(gapline, folder / "b.sqlite.gz", folder / "c.sqlite.gz")
    assert (folder / "c.sqlite.gz").read_bytes() == packed, "scrubbing a copy changes it"
    db = sqlite3.connect(folder / "a.sqlite")
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert db.execute("PRAGMA freelist_count").fetchone() == (0,)
    db.close()
    # An error leaves what was there.
    tiny_profile.damage(folder / "tiny.sqlite")
    done = run(gapline, "scrub", "--force", folder / "tiny.sqlite", "-o", folder / "a.sqlite")
    assert done.returncode == 3 and "is damaged" in done.stderr, done
    assert (folder / "a.sqlite").read_bytes() == plain
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]
    # SQLite finds this damage on its way to a report's columns, and not on the way to all of them: no copy, where there is no
    # report.
    damaged = HERE / "profiles/damaged_row.sqlite"
    done = [run(gapline, *words) for words in (("show", damaged), ("scrub", damaged, "-o", folder / "no.sqlite"))]
    assert [d.returncode for d in done] == [3, 3] and done[0].stderr == done[1].stderr, done
    assert "CUPTI_ACTIVITY_KIND_KERNEL" in done[0].stderr and not (folder / "no.sqlite").exists()


def main():
    gapline = os.path.abspath(sys.argv[1])
    captures = pathlib.Path(os.environ.get("GAPLINE_CAPTURES", HERE.parent.parent.parent / "shared/captures"))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_leaks(gapline, folder)
        check_masks(gapline, folder)
        check_files(gapline, folder)
        check_samples(gapline, folder)
        check_own(gapline, folder)
        check_several_processes(gapline, folder)
        tiny_profile.write(folder / "whole.sqlite")
        assert check_same(gapline, folder, folder / "whole.sqlite")
        found = some(sorted(captures.glob("**/*.sqlite.gz")), 3) + sorted((HERE.parent.parent / "examples").glob("**/*.sqlite.gz"))
        same = sum(check_same(gapline, folder, profile) for profile in found)
        print(f"{same} of {len(found)} captures give the same result as their copies, the others none")
        if not captures.is_dir():
            print(f"{captures} is not there: only the examples were compared")


if __name__ == "__main__":
    main()
