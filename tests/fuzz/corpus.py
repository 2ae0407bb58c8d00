#!/usr/bin/env python3
"""The corpora of the fuzz targets, one archive each, corpus/NAME.tar.xz.

    corpus.py unpack FOLDER     writes FOLDER/NAME/..., as libFuzzer wants them
    corpus.py pack FOLDER       makes the archives of FOLDER/NAME/...

The same files give the same archive: sorted, without owners and times.
"""

import io
import lzma
import pathlib
import sys
import tarfile

ARCHIVES = pathlib.Path(__file__).resolve().parent / "corpus"


def tar_of(folder):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for file in sorted(folder.iterdir()):
            data = file.read_bytes()
            entry = tarfile.TarInfo(file.name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return made.getvalue()


def pack(folder):
    ARCHIVES.mkdir(exist_ok=True)
    for corpus in sorted(pathlib.Path(folder).iterdir()):
        (ARCHIVES / f"{corpus.name}.tar.xz").write_bytes(lzma.compress(tar_of(corpus), preset=9 | lzma.PRESET_EXTREME))


def unpack(folder):
    """An archive that is not what pack makes of its files is an error: what is added is added by pack."""
    for archive in sorted(ARCHIVES.glob("*.tar.xz")):
        data, corpus = lzma.decompress(archive.read_bytes()), pathlib.Path(folder) / archive.name[: -len(".tar.xz")]
        corpus.mkdir(parents=True)
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            for entry in tar:
                (corpus / pathlib.PurePath(entry.name).name).write_bytes(tar.extractfile(entry).read())
        if tar_of(corpus) != data:
            sys.exit(f"{archive.name}: made by something else than corpus.py pack")


if __name__ == "__main__":
    {"pack": pack, "unpack": unpack}[sys.argv[1]](sys.argv[2])
