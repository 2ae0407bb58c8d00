#!/usr/bin/env python3
"""What a program is linked from, as SPDX 2.3 in JSON (https://spdx.github.io/spdx-spec/v2.3/).

    sbom.py VERSION PROGRAM OUTPUT [LINKED_IN ...]

PROGRAM's libraries as ldd finds them, and the packages LINKED_IN (names of libraries that are part of PROGRAM itself, by
their file: libsqlite3.a), each with the distribution's package that holds it. The same system gives the same bytes: no
clock but SOURCE_DATE_EPOCH, no names of hosts or folders. Where PROGRAM was built with another system's libraries,
GAPLINE_SBOM_ROOT is the folder that holds that system.
"""

import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys


ROOT = os.environ.get("GAPLINE_SBOM_ROOT", "")


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"LC_ALL": "C"} | ({"DPKG_ADMINDIR": ROOT + "/var/lib/dpkg"} if ROOT else {}))
    return done.stdout  # dpkg-query ends with 1 where it knows some of what it was asked, and prints those


def without_root(path):
    return path[len(ROOT) :] if path.startswith(ROOT) else path


def packages_of(paths):
    """Name, version and source of the package that each file belongs to; NOASSERTION where nobody knows. A question takes
    dpkg as long as all of them: it reads its lists for each."""
    spellings = {path: [without_root(p) for p in (path, os.path.realpath(path), re.sub("^/usr/", "/", os.path.realpath(path)))] for path in paths}
    owners = {}
    for line in output("dpkg-query", "-S", *dict.fromkeys(s for all_of_one in spellings.values() for s in all_of_one)).splitlines():
        names, _, file = line.partition(": ")
        owners.setdefault(file, names.split(":")[0].split(",")[0].strip())
    found = {path: next((owners[s] for s in all_of_one if s in owners), None) for path, all_of_one in spellings.items()}
    said = output("dpkg-query", "-W", "-f", "${Package}\\t${Version}\\t${source:Package}\\n", *dict.fromkeys(filter(None, found.values())))
    known = {line.split("\t")[0]: tuple(line.split("\t")) for line in reversed(said.splitlines())}  # the first of two processors'
    return [known.get(found[path], (pathlib.Path(path).name, "NOASSERTION", "NOASSERTION")) for path in paths]


def libraries(program):
    for line in output("ldd", program).splitlines():
        path = re.search(r"(/\S+)", line)
        if path:
            yield path[1]


def static(name):
    for folder in "/usr/lib", "/usr/local/lib":
        yield from sorted(str(p) for p in pathlib.Path(ROOT + folder).glob(f"**/{name}"))[:1]


def entry(name, version, source, how):
    known = version != "NOASSERTION"
    made = {
        "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name),
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "copyrightText": "NOASSERTION",
        "comment": how,
    }
    if known:
        made["sourceInfo"] = f"source package {source}"
    return made


def main():
    version, program, target, *linked = sys.argv[1:]
    how = {path: "linked when it is started" for path in libraries(program)} | {path: "linked in" for name in linked for path in static(name)}
    found = dict(zip(packages_of([*how]), how.values()))
    digest = hashlib.sha256(pathlib.Path(program).read_bytes()).hexdigest()
    when = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc)
    own = entry("gapline", version, "gapline", "this program") | {"checksums": [{"algorithm": "SHA256", "checksumValue": digest}]}
    packages = [entry(*package, how) for package, how in sorted(found.items())]
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"gapline-{version}",
        "documentNamespace": f"urn:gapline:{version}:{digest}",
        "creationInfo": {"created": when.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: gapline tools/sbom.py"]},
        "packages": [own] + packages,
        "relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": own["SPDXID"]}]
        + [{"spdxElementId": own["SPDXID"], "relationshipType": "DEPENDS_ON", "relatedSpdxElement": p["SPDXID"]} for p in packages],
    }
    pathlib.Path(target).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
