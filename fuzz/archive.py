"""The inputs of `corpus.tar.xz`: `python fuzz/archive.py unpack FOLDER`, and `pack FOLDER` after a change of them.

The archive depends on nothing but the names and the bytes of the inputs, and has them as TARGET/NAME.
"""

from __future__ import annotations

import io
import sys
import tarfile
from pathlib import Path

ARCHIVE = Path(__file__).with_name("corpus.tar.xz")


def read(target: str = "") -> dict[str, bytes]:
    """Return the inputs by their names in the archive: all of them, or those of one target."""
    with tarfile.open(ARCHIVE) as archive:
        return {
            member.name: file.read()
            for member in archive
            if member.name.startswith(f"{target}/" if target else "") and (file := archive.extractfile(member))
        }


def write(inputs: dict[str, bytes]) -> None:
    """Write the archive anew."""
    with tarfile.open(ARCHIVE, "w:xz", format=tarfile.USTAR_FORMAT, preset=9) as archive:
        for name, data in sorted(inputs.items()):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


def unpack(folder: Path, target: str = "") -> None:
    """Write each input into a file of its own below a folder."""
    for name, data in read(target).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def pack(folder: Path) -> None:
    """Make the archive of the files below a folder."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    write({path.relative_to(folder).as_posix(): path.read_bytes() for path in paths})


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("unpack", "pack"):
        sys.exit(f"usage: {sys.argv[0]} unpack|pack FOLDER")
    {"unpack": unpack, "pack": pack}[sys.argv[1]](Path(sys.argv[2]))
