"""Writes a store of baselines and commits as docs/guide/history.md describes it, with bytes of one's own as digests."""

import sqlite3

SCHEMA = (
    "CREATE TABLE entry (kind INTEGER NOT NULL, name TEXT NOT NULL, added INTEGER NOT NULL, time INTEGER, "
    "machine TEXT NOT NULL, PRIMARY KEY (kind, name)) WITHOUT ROWID",
    "CREATE TABLE part (kind INTEGER NOT NULL, name TEXT NOT NULL, place INTEGER NOT NULL, file TEXT NOT NULL, "
    "folder INTEGER NOT NULL, digest BLOB NOT NULL, PRIMARY KEY (kind, name, place)) WITHOUT ROWID",
)


def write(path, baselines=(), commits=()):
    """`baselines`: (name, [digest, …]); `commits`: (name, time or None, [digest, …])."""
    db = sqlite3.connect(path)
    db.execute("PRAGMA page_size = 1024")
    for statement in SCHEMA:
        db.execute(statement)
    db.execute(f"PRAGMA application_id = {0x6761706C}")
    db.execute("PRAGMA user_version = 1")
    entries = [(0, name, None, digests) for name, digests in baselines] + [(1, *commit) for commit in commits]
    for added, (kind, name, time, digests) in enumerate(entries, 1):
        db.execute("INSERT INTO entry VALUES (?, ?, ?, ?, 'Test GPU')", (kind, name, added, time))
        db.executemany("INSERT INTO part VALUES (?, ?, ?, ?, -1, ?)",
                       [(kind, name, place, f"run-{place}.sqlite", digest) for place, digest in enumerate(digests, 1)])
    db.commit()
    db.close()
