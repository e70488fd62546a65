"""Rank files of published encodings: looked for on this machine, and downloaded only when asked for by name.

A file is looked for in tiktoken's cache folder (`TIKTOKEN_CACHE_DIR`, else `DATA_GYM_CACHE_DIR`, else its default),
under the name that tiktoken gives it (the SHA-1 of its address) and under its plain name, then in toksmith's own
folder (`TOKSMITH_CACHE_DIR`, else `toksmith` in the user's cache folder). A file whose SHA-256 differs from the
published one is ignored.
"""

import contextlib
import hashlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ...files import reading, whole_files

_TIMEOUT = 60  # seconds without any data


def plain_name(url: str) -> str:
    """Return the last part of an address."""
    return url.rstrip("/").rpartition("/")[2]


def cache_key(url: str) -> str:
    """Return the name that tiktoken gives the file of an address in its cache folder."""
    return hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest()


def own_folder() -> Path:
    """Return toksmith's cache folder. It need not exist."""
    if named := os.environ.get("TOKSMITH_CACHE_DIR"):
        return Path(named)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "toksmith"


def _tiktoken_folder() -> tuple[Path | None, bool]:
    """Return tiktoken's cache folder, None if it is switched off, and whether the user has named it."""
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if (named := os.environ.get(variable)) is not None:
            return (Path(named) if named else None), True
    return Path(tempfile.gettempdir()) / "data-gym-cache", False


def places(url: str, *, plain: bool = True) -> Iterator[Path]:
    """Yield the paths where the file of an address may be; with `plain`, also those with its plain name.

    A plain name alone does not tell which file it is.
    """
    tiktoken = _tiktoken_folder()[0]
    for folder in (tiktoken, own_folder()):
        if folder is not None:
            yield folder / cache_key(url)
            if plain:
                yield folder / plain_name(url)


def cached(url: str, sha256: str | None) -> bytes | None:
    """Return the content of the file if it is on this machine, with that SHA-256 if there is one."""
    contents = (content(path, sha256) for path in places(url, plain=sha256 is not None))
    return next((data for data in contents if data is not None), None)


def content(path: Path, sha256: str | None) -> bytes | None:
    """Return the content of a file, with that SHA-256 if there is one; None if there is no such file."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError, ValueError):
        data = reading.read(path)
        if sha256 is None or digest(data) == sha256:
            return data
    return None


def digest(data: bytes) -> str:
    """Return the SHA-256 in hex."""
    return hashlib.sha256(data).hexdigest()


def obtain(url: str, sha256: str | None, name: str | None = None) -> bytes:
    """Return the content of the file: from this machine, else downloaded, checked, and kept for the next time.

    `name` is what `toksmith fetch` takes for it.
    """
    data = cached(url, sha256)
    if data is None:
        data = download(url, sha256, name)
        folder, named = _tiktoken_folder()
        if named and folder is not None:  # as tiktoken would
            write(folder / cache_key(url), data)
        else:
            with contextlib.suppress(OSError):
                write(own_folder() / plain_name(url), data)
    return data


def write(path: Path, data: bytes) -> None:
    """Write a file into a folder that is made if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    whole_files.write(path, [data])


def download(url: str, sha256: str | None, name: str | None = None, mirror: str | None = None) -> bytes:
    """Return the file at an address, or with its plain name at a `mirror`; an error says where to put it."""
    import http.client
    import urllib.request

    address = url if mirror is None else f"{mirror.rstrip('/')}/{plain_name(url)}"
    if not address.startswith(("http://", "https://")):
        raise ValueError(f"{address} is not a web address")
    try:
        with urllib.request.urlopen(address, timeout=_TIMEOUT) as response:
            data: bytes = response.read(reading.MAX_BYTES + 1)
    except (OSError, http.client.HTTPException) as error:
        raise FileNotFoundError(_missing(url, sha256, name, f"{address}: {error}")) from None
    if len(data) > reading.MAX_BYTES:
        raise ValueError(f"{address}: exceeds the limit of {reading.MAX_BYTES} bytes for a rank file")
    if sha256 is not None and digest(data) != sha256:
        raise ValueError(
            f"Hash mismatch for data downloaded from {address}: the SHA-256 is {digest(data)}, not {sha256} as "
            "published: try again"
        )
    return data


def _missing(url: str, sha256: str | None, name: str | None, reason: str) -> str:
    folder, named = _tiktoken_folder()
    target = (folder if named and folder is not None else own_folder()) / plain_name(url)
    wrong = [str(path) for path in places(url) if sha256 is not None and path.is_file()]
    sha = f" (SHA-256 {sha256})" if sha256 else ""
    other = f". Another content was found at {', '.join(wrong)}" if wrong else ""
    fetch = f", or copy what `toksmith fetch {name} --to FOLDER` writes on a machine with a network" if name else ""
    return (
        f"{target.name} is not on this machine and could not be downloaded ({reason}). Get it from {url}{sha} and "
        f"put it at {target}{fetch}{other}"
    )
