"""Names of the Hugging Face Hub: the local cache first, a download only where it is allowed."""

import hashlib
import http.server
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import toksmith
from toksmith import Tokenizer

COMMITS = ("a" * 40, "b" * 40)
TOKEN = "hf_" + "x" * 34


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "hf" / "hub"


def put(cache: Path, tokenizers: list[Tokenizer]) -> None:
    """Lay out a cache as `huggingface_hub` does: "main" is the first commit, "v2" the second."""
    folder = cache / "models--org--name"
    (folder / "refs").mkdir(parents=True)
    for ref, commit, tokenizer in zip(("main", "v2"), COMMITS, tokenizers, strict=True):
        (folder / "refs" / ref).write_text(commit)
        tokenizer.save_huggingface(folder / "snapshots" / commit)


def test_a_name_is_looked_up_in_the_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (toksmith.train(iter([text * 9]), 260) for text in ("low lower ", "über wide "))
    put(cache, [first, second])
    assert Tokenizer.from_pretrained("org/name") == first
    assert Tokenizer.from_pretrained("org/name@v2") == second
    assert Tokenizer.from_pretrained(f"org/name@{COMMITS[1]}") == second
    monkeypatch.setenv("HF_HUB_CACHE", str(cache))
    monkeypatch.setenv("HF_HOME", "/nowhere")
    assert Tokenizer.from_pretrained("org/name") == first
    Path("org/name").mkdir(parents=True)  # a path goes before a name
    second.save_huggingface("org/name")
    assert Tokenizer.from_pretrained("org/name") == second


def test_a_model_is_looked_for_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    downloads = []

    def downloaded(name: str, revision: str) -> str:
        downloads.append((name, revision))
        toksmith.train(iter(["low"]), 257).save(cache.parent / "tekken.json", format="tekken")
        return str(cache.parent)

    cache.parent.mkdir()
    monkeypatch.setattr("toksmith.formats.sources._downloaded", downloaded)
    monkeypatch.setenv("TOKSMITH_DOWNLOAD", "1")
    assert Tokenizer.from_pretrained("org/name").vocab_size == 257
    with pytest.raises(OSError, match="download=True, --download"):
        Tokenizer.from_pretrained("org/name", download=False)
    monkeypatch.delenv("TOKSMITH_DOWNLOAD")
    assert Tokenizer.from_pretrained("org/name@v2", download=True).vocab_size == 257
    assert downloads == [("org/name", "main"), ("org/name", "v2")]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """A server that answers as the Hub does: for org/name, and for org/private with a token."""
    Tokenizer().with_special_tokens({"<|end|>": 300}).save_huggingface(tmp_path / "served")
    files = {path.name: path.read_bytes() for path in (tmp_path / "served").iterdir()}
    files["model.safetensors"] = b"weights"
    listing: list[dict[str, object]] = [
        {"type": "file", "path": name, "rfilename": name, "size": len(data), "oid": hashlib.sha1(data).hexdigest()}
        for name, data in files.items()
    ]

    class Hub(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            if "/org/private/" in path and self.headers["Authorization"] != f"Bearer {TOKEN}":
                return self._refuse(401, "RepoNotFound")
            path = path.replace("/org/private/", "/org/name/")
            if path.startswith("/api/models/org/name/tree/"):
                self._send(json.dumps(listing).encode())
            elif path in (f"/api/models/org/name/revision/{ref}" for ref in ("main", "v2", COMMITS[0])):
                self._send(json.dumps({"id": "org/name", "sha": COMMITS[0], "siblings": listing}).encode())
            elif path.startswith("/api/models/org/name/revision/"):
                self._refuse(404, "RevisionNotFound")
            elif path.startswith("/org/name/resolve/") and path.rpartition("/")[2] in files:
                self._send(files[path.rpartition("/")[2]])
            else:
                self._refuse(404, "RepoNotFound")
            return None

        do_HEAD = do_GET

        def _refuse(self, status: int, code: str) -> None:
            self.send_response(status)
            self.send_header("X-Error-Code", code)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def _send(self, data: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.send_header("ETag", f'"{hashlib.sha1(data).hexdigest()}"')
            self.send_header("X-Repo-Commit", COMMITS[0])
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(data)

        def log_message(self, *arguments: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_address[1]}"
        running.shutdown()


def test_a_download_is_made_if_it_is_allowed(cache: Path, server: str) -> None:
    program = "import sys, toksmith; print(toksmith.Tokenizer.from_pretrained(sys.argv[1]).special_tokens)"

    def run(name: str, allowed: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "HF_ENDPOINT": server, "TOKSMITH_DOWNLOAD": allowed, "HF_HUB_OFFLINE": "0"}
        command = [sys.executable, "-c", program, name]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    refused = run("org/name", "")
    assert "--download or TOKSMITH_DOWNLOAD=1 in the environment allow a download" in refused.stderr
    assert not cache.exists()
    assert "{'<|end|>': 300}" in run("org/name", "1").stdout
    snapshot = cache / "models--org--name" / "snapshots" / COMMITS[0]
    assert (snapshot / "tokenizer.json").exists()
    assert not (snapshot / "model.safetensors").exists()
    assert "{'<|end|>': 300}" in run("org/name", "").stdout
    assert "could not be downloaded" in run("org/other", "1").stderr


def test_the_command_line_downloads_with_a_token(cache: Path, server: str) -> None:
    def run(name: str, *options: str, token: str = "") -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "HF_ENDPOINT": server, "HF_TOKEN": token, "HF_HUB_OFFLINE": "0"}
        command = [sys.executable, "-m", "toksmith", "encode", "-t", name, "--text", "a<|end|>", *options]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    assert "could not" not in run("org/private").stderr  # nothing was asked
    denied = run("org/private", "--download")
    hub = "could not be downloaded from the Hugging Face Hub: "
    assert denied.stderr.startswith(f"toksmith: error: org/private@main {hub}")
    assert "make sure you are authenticated" in denied.stderr
    assert run("org/private", "--download", token=TOKEN).stdout.split() == ["97", "300"]
    assert run("org/private").stdout.split() == ["97", "300"]  # from the cache
    unknown = run("org/name@v9", "--download")
    assert "Revision Not Found" in unknown.stderr
    assert run("org/name@v2", "--download").stdout.split() == ["97", "300"]
    assert (cache / "models--org--name/refs/v2").read_text() == COMMITS[0]


@pytest.mark.parametrize("name", ["org/other", "org/name@v3", "org/name@../../x"])
def test_what_is_not_there_is_said(cache: Path, name: str) -> None:
    put(cache, [Tokenizer(), Tokenizer()])
    with pytest.raises(OSError, match="neither a file nor a folder"):
        Tokenizer.from_pretrained(name)
