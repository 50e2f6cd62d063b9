"""Packs a wheel anew, as small as deflate can be made by zopfli; what is inside stays the same, to the byte. The wheel replaces the one that was given.

repack.py WHEEL ..
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import zopfli.zlib


class Packer:
    """What `zipfile` asks to compress: the bare deflate of zopfli, between the header and the checksum of zlib."""

    def __init__(self) -> None:
        self.data = b""

    def compress(self, data: bytes) -> bytes:
        self.data += data
        return b""

    def flush(self) -> bytes:
        return bytes(zopfli.zlib.compress(self.data, numiterations=3)[2:-4])


def repack(path: Path) -> None:
    made = path.with_suffix(".smaller")
    # `zipfile` has no door for other compressors. What came of it is held against the old one below.
    zipfile._get_compressor = lambda *_: Packer()  # type: ignore[attr-defined]
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            # Names, times and modes are those of the entry: a helper that can be run stays one.
            new.writestr(entry, old.read(entry), zipfile.ZIP_DEFLATED)
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(made) as new:
        assert [(entry.filename, entry.CRC, entry.external_attr) for entry in old.infolist()] == [
            (entry.filename, entry.CRC, entry.external_attr) for entry in new.infolist()
        ], f"{path.name} is another wheel after packing"
        assert new.testzip() is None, f"{path.name} cannot be read after packing"
    print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB to {made.stat().st_size / 1e6:.2f} MB")
    made.replace(path)


for name in sys.argv[1:]:
    repack(Path(name))
