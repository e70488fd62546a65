"""Fixtures of the tests of tiktoken's API."""

import base64
import hashlib
from pathlib import Path

import pytest

from toksmith.published import encodings, rank_cache


@pytest.fixture(scope="session")
def cache(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """tiktoken's cache folder with the published rank files."""
    folder = tmp_path_factory.mktemp("cache")
    for name, file in encodings.FILES.items():
        source = {"r50k_base": "gpt2", "p50k_base": "gpt2"}.get(name, name)
        data = (shared_data / f"vocabs/{source}.tiktoken").read_bytes()
        if name == "p50k_base":
            runs = enumerate(range(2, 26), 50257)
            data += b"".join(base64.b64encode(b" " * count) + b" %d\n" % id for id, count in runs)
        assert hashlib.sha256(data).hexdigest() == file.sha256
        (folder / rank_cache.cache_key(file.url)).write_bytes(data)
    for name, source in (("vocab.bpe", "gpt2_merges.txt"), ("encoder.json", "gpt2_vocab.json")):
        url = f"https://openaipublic.blob.core.windows.net/gpt-2/encodings/main/{name}"
        data = (shared_data / "vocabs" / source).read_bytes()
        if name == "vocab.bpe":
            data = b"#version: 0.2\n" + data.removeprefix(b"#version: 0.2\n")
        (folder / rank_cache.cache_key(url)).write_bytes(data)
    return folder
