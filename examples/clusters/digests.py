#!/usr/bin/env python3
"""Makes the digest of each profile beside it, on the workers of a Dask cluster.

    digests.py SCHEDULER PROFILE.sqlite ...

Workers see the profiles under the same paths, and have gapline. What cannot be read is named on standard error and has no
digest; the others have theirs. docs/guide/clusters.md has the rest."""

import subprocess
import sys

from distributed import Client


def digest(profile):
    words = ["gapline", "digest", "-q", profile, "-o", profile.removesuffix(".sqlite") + ".digest"]
    return subprocess.run(words, capture_output=True, text=True).stderr


if __name__ == "__main__":
    with Client(sys.argv[1]) as client:
        for said in client.gather(client.map(digest, sys.argv[2:])):
            sys.stderr.write(said)
