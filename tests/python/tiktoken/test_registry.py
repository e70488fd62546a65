"""Encodings by name and by model, their rank files, and plug-ins; no network but the loopback."""

import base64
import functools
import hashlib
import http.server
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import tiktoken
import tiktoken.model
from command import run_command

import toksmith
from toksmith.compat import tiktoken as compat
from toksmith.compat.tiktoken import registry
from toksmith.formats.published import encodings as published
from toksmith.formats.published import rank_cache


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No encoding is made, no folder has a file, and no address leads anywhere."""
    monkeypatch.setattr(registry, "ENCODINGS", {})
    monkeypatch.setenv("TOKSMITH_CACHE_DIR", str(tmp_path / "own"))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "tiktoken"))
    monkeypatch.delenv("DATA_GYM_CACHE_DIR", raising=False)
    for variable in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    files = {
        name: published.RankFile(f"http://127.0.0.1:9/encodings/{rank_cache.plain_name(file.url)}", file.sha256)
        for name, file in published.FILES.items()
    }
    monkeypatch.setattr(published, "FILES", files)


@pytest.fixture
def r50k(shared_data: Path) -> bytes:
    return (shared_data / "vocabs/gpt2.tiktoken").read_bytes()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, Path, list[str]]]:
    """A server on this machine, the folder that it serves, and the paths that it was asked for."""
    served = tmp_path / "served"
    served.mkdir()
    asked: list[str] = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            asked.append(self.path)

    handler = functools.partial(Handler, directory=str(served))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{running.server_address[1]}", served, asked
        running.shutdown()


@pytest.fixture
def at_server(server: tuple[str, Path, list[str]], monkeypatch: pytest.MonkeyPatch) -> tuple[Path, list[str]]:
    """The published files are where the server is."""
    address, served, asked = server
    files = {
        name: published.RankFile(f"{address}/{rank_cache.plain_name(file.url)}", file.sha256)
        for name, file in published.FILES.items()
    }
    monkeypatch.setattr(published, "FILES", files)
    return served, asked


def test_names_and_models_are_those_of_tiktoken() -> None:
    assert list(registry.list_encoding_names()) == list(tiktoken.list_encoding_names())
    assert list(published.MODEL_TO_ENCODING.items()) == list(tiktoken.model.MODEL_TO_ENCODING.items())
    prefixes = tiktoken.model.MODEL_PREFIX_TO_ENCODING
    assert list(published.MODEL_PREFIX_TO_ENCODING.items()) == list(prefixes.items())
    for model in [*published.MODEL_TO_ENCODING, *(f"{prefix}x" for prefix in prefixes), "gpt-4-32k", "gpt-oss-20b"]:
        assert toksmith.encoding_name_for_model(model) == tiktoken.encoding_name_for_model(model)
    for wrong in (lambda: toksmith.encoding_for_model("gpt-0"), lambda: toksmith.encoding_name_for_model("")):
        with pytest.raises(KeyError):
            wrong()
    for name in ("nothing", None, 5):
        with pytest.raises(ValueError, match="encoding"):
            toksmith.get_encoding(name)


def test_published_definitions_are_those_of_tiktoken(monkeypatch: pytest.MonkeyPatch) -> None:
    """The addresses and SHA-256 too: its constructors are run, with readers that write down what they are asked."""
    from tiktoken_ext import openai_public

    monkeypatch.undo()
    asked: list[tuple[str, str | None]] = []

    def reader(path: str, expected_hash: str | None = None) -> dict[bytes, int]:
        asked.append((path, expected_hash))
        return {}

    def gym(**files: str) -> dict[bytes, int]:
        asked.append((files["vocab_bpe_file"], files["vocab_bpe_hash"]))
        return {}

    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", reader)
    monkeypatch.setattr(openai_public, "data_gym_to_mergeable_bpe_ranks", gym)
    assert list(published.ENCODINGS) == list(openai_public.ENCODING_CONSTRUCTORS)
    for name, constructor in openai_public.ENCODING_CONSTRUCTORS.items():
        theirs = constructor()
        ours = published.ENCODINGS[name]
        assert theirs["name"] == name
        assert (ours.pat_str, ours.special_tokens) == (theirs["pat_str"], theirs["special_tokens"])
        assert ours.explicit_n_vocab == theirs.get("explicit_n_vocab")
        assert asked.pop() == (published._VOCAB_BPE if name == "gpt2" else published.FILES[ours.file])


def place(name: str, folder: Path, data: bytes, *, hashed: bool) -> None:
    url = published.FILES[name].url
    folder.mkdir(parents=True, exist_ok=True)
    (folder / (rank_cache.cache_key(url) if hashed else rank_cache.plain_name(url))).write_bytes(data)


@pytest.mark.parametrize("hashed", [True, False])
@pytest.mark.parametrize("variable", ["TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR", "TOKSMITH_CACHE_DIR", None])
def test_where_a_rank_file_is_looked_for(
    variable: str | None, hashed: bool, r50k: bytes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "here"
    if variable != "TOKSMITH_CACHE_DIR":
        monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
    if variable is None:
        monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
        folder = tmp_path / "data-gym-cache"
    else:
        monkeypatch.setenv(variable, str(folder))
    place("r50k_base", folder, r50k, hashed=hashed)
    for name in ("r50k_base", "gpt2"):
        encoding = toksmith.get_encoding(name)
        assert encoding.encode("hello world") == [31373, 995]
        assert toksmith.get_encoding(name) is encoding
    # Made of the other file, and checked by its SHA-256.
    assert toksmith.get_encoding("p50k_base").encode("   hello") == [50257, 23748]
    assert toksmith.get_encoding("p50k_edit").n_vocab == 50284


def test_a_cache_that_is_switched_off(r50k: bytes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    with pytest.raises(FileNotFoundError):
        toksmith.get_encoding("gpt2")
    place("r50k_base", tmp_path / "own", r50k, hashed=False)
    assert toksmith.get_encoding("gpt2").n_vocab == 50257


def test_gpt2_of_its_merges(shared_data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "tiktoken"
    folder.mkdir()
    merges = (shared_data / "vocabs/gpt2_merges.txt").read_bytes()
    (folder / "vocab.bpe").write_bytes(b"#version: 0.2\n" + merges.removeprefix(b"#version: 0.2\n"))
    for name in ("gpt2", "r50k_base", "p50k_base"):
        assert toksmith.get_encoding(name).encode("hello world") == [31373, 995]
    (folder / "vocab.bpe").write_bytes(b"#version: 0.2\na\n\n")
    registry.ENCODINGS.clear()
    with pytest.raises(FileNotFoundError):
        toksmith.get_encoding("gpt2")


def test_a_download_is_checked_and_kept(
    at_server: tuple[Path, list[str]], r50k: bytes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    served, asked = at_server
    (served / "r50k_base.tiktoken").write_bytes(r50k)
    assert toksmith.get_encoding("gpt2").n_vocab == 50257
    key = rank_cache.cache_key(published.FILES["r50k_base"].url)
    assert [path.name for path in (tmp_path / "tiktoken").iterdir()] == [key]
    registry.ENCODINGS.clear()
    assert toksmith.get_encoding("r50k_base").n_vocab == 50257
    assert asked == ["/r50k_base.tiktoken"]
    # Where no folder is named, into our own.
    registry.ENCODINGS.clear()
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path / "nothing"))
    assert toksmith.get_encoding("gpt2").n_vocab == 50257
    assert [path.name for path in (tmp_path / "own").iterdir()] == ["r50k_base.tiktoken"]
    assert len(asked) == 2


def test_a_download_with_another_content_is_refused(at_server: tuple[Path, list[str]], tmp_path: Path) -> None:
    served, _ = at_server
    (served / "cl100k_base.tiktoken").write_bytes(b"YQ== 0\n")
    with pytest.raises(ValueError, match=r"Hash mismatch for data downloaded from .* SHA-256 is .*, not 223921b7"):
        toksmith.get_encoding("cl100k_base")
    assert not (tmp_path / "tiktoken").exists()
    assert not (tmp_path / "own").exists()


def test_a_wrong_file_in_the_cache_is_downloaded_anew(
    at_server: tuple[Path, list[str]], r50k: bytes, tmp_path: Path
) -> None:
    place("r50k_base", tmp_path / "tiktoken", r50k[:-5], hashed=True)
    with pytest.raises(FileNotFoundError, match=r"Another content was found at .*tiktoken"):
        toksmith.get_encoding("gpt2")
    (at_server[0] / "r50k_base.tiktoken").write_bytes(r50k)
    assert toksmith.get_encoding("gpt2").n_vocab == 50257


def test_without_a_network_the_error_says_where_to_put_which_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(FileNotFoundError) as raised:
        toksmith.get_encoding("o200k_base")
    for part in (published.FILES["o200k_base"].url, "446a9538", str(tmp_path / "tiktoken/o200k_base.tiktoken")):
        assert part in str(raised.value)
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
    with pytest.raises(FileNotFoundError, match="`toksmith fetch o200k_base --to FOLDER`") as raised:
        toksmith.get_encoding("o200k_base")
    assert str(tmp_path / "own/o200k_base.tiktoken") in str(raised.value)


def test_nothing_opens_a_socket_unless_asked_by_name() -> None:
    code = (
        "import sys; sys.addaudithook(lambda event, args: sys.exit(event) if event.startswith('socket.') else None);"
        "import toksmith, toksmith.compat.tiktoken, toksmith.cli.app;"
        "toksmith.list_encoding_names(); toksmith.encoding_name_for_model('gpt-4');"
        "import toksmith.compat.tiktoken.registry, toksmith.compat.tiktoken_ext.openai_public;"
        "import toksmith.formats.published.rank_cache"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


def test_encoding_imports_nothing_large(r50k: bytes, tmp_path: Path) -> None:
    place("r50k_base", tmp_path / "own", r50k, hashed=False)
    code = (
        "import sys, toksmith, toksmith.compat.tiktoken as tiktoken;"
        "assert tiktoken.get_encoding('gpt2').encode('hello world', disallowed_special=()) == [31373, 995];"
        "print({'regex', 'numpy', 'click', 'rich', 'tiktoken', 'urllib.request'} & set(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"


def test_pickle_by_name(r50k: bytes, tmp_path: Path) -> None:
    place("r50k_base", tmp_path / "own", r50k, hashed=False)
    encoding = toksmith.get_encoding("gpt2")
    data = pickle.dumps(encoding)
    assert len(data) < 200
    assert pickle.loads(data).encode("hello world") == [31373, 995]
    other = toksmith.Encoding(
        "gpt2", pat_str=encoding._pat_str, mergeable_ranks=encoding._mergeable_ranks, special_tokens={"<|x|>": 60000}
    )
    assert len(pickle.dumps(other)) > 100_000
    assert pickle.loads(pickle.dumps(other)).encode("<|x|>", allowed_special="all") == [60000]


def fetch(*args: object, environment: dict[str, str] | None = None) -> SimpleNamespace:
    done = run_command("fetch", *args, env={**os.environ, **(environment or {})})
    return SimpleNamespace(returncode=done.returncode, stderr=done.stderr.decode())


def test_fetch(server: tuple[str, Path, list[str]], r50k: bytes, tmp_path: Path) -> None:
    address, served, asked = server
    (served / "r50k_base.tiktoken").write_bytes(r50k)
    out = tmp_path / "ranks"
    done = fetch("gpt2", "r50k_base", "davinci", "--to", out, "--from", address)
    assert done.returncode == 0, done.stderr
    assert (out / "r50k_base.tiktoken").read_bytes() == r50k
    assert asked == ["/r50k_base.tiktoken"]
    assert "is there" in fetch("gpt2", "--to", out, "--from", address).stderr
    # One that is in a cache folder, or can be made of one that is, needs no network.
    done = fetch("gpt2", "p50k_base", environment={"TIKTOKEN_CACHE_DIR": str(out)})
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (tmp_path / "own").iterdir()) == ["p50k_base.tiktoken", "r50k_base.tiktoken"]
    assert len(asked) == 1


def test_fetch_that_fails(server: tuple[str, Path, list[str]], tmp_path: Path) -> None:
    address, served, _ = server
    (served / "cl100k_base.tiktoken").write_bytes(b"YQ== 0\n")
    for arguments, expected in (
        (["cl100k_base", "--from", address], "SHA-256"),
        (["o200k_base", "--from", address], "404"),
        (["o200k_base", "--from", "file:///etc"], "not a web address"),
        (["nothing"], "neither a published encoding"),
    ):
        done = fetch(*arguments, "--to", tmp_path / "out")
        assert done.returncode == 1
        assert expected in done.stderr
        assert done.stderr.startswith("toksmith: error: ")
        assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()


PLUGIN = """
from tiktoken.load import load_tiktoken_bpe
import pathlib

def tiny():
    ranks = load_tiktoken_bpe(str(pathlib.Path(__file__).with_name("tiny.tiktoken")), EXPECTED)
    return {"name": "tiny", "pat_str": r"\\w+|\\s+", "mergeable_ranks": ranks, "special_tokens": {"<|end|>": 256}}

ENCODING_CONSTRUCTORS = {"tiny": tiny}
"""


@pytest.fixture
def plugins(tmp_path: Path) -> Path:
    """A folder with a part of the namespace package `tiktoken_ext`."""
    folder = tmp_path / "plugins" / "tiktoken_ext"
    folder.mkdir(parents=True)
    ranks = b"".join(base64.b64encode(bytes([byte])) + b" %d\n" % byte for byte in range(256))
    (folder / "tiny.tiktoken").write_bytes(ranks)
    digest = hashlib.sha256(ranks).hexdigest()
    (folder / "my_plugin.py").write_text(PLUGIN.replace("EXPECTED", repr(digest)))
    return folder


def in_child(plugins: Path, code: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(plugins.parent)}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)


@pytest.mark.parametrize("installed", [True, False])
def test_a_plugin(plugins: Path, installed: bool) -> None:
    hide = (
        ""
        if installed
        else (
            "import sys, importlib.abc\n"
            "class Hide(importlib.abc.MetaPathFinder):\n"
            "    def find_spec(self, name, path=None, target=None):\n"
            "        if name == 'tiktoken': raise ModuleNotFoundError(name, name=name)\n"
            "import importlib.util\n"
            "found = importlib.util.find_spec\n"
            "importlib.util.find_spec = lambda name, *rest: None if name == 'tiktoken' else found(name, *rest)\n"
            "sys.meta_path.insert(0, Hide())\n"
        )
    )
    code = hide + (
        "import toksmith, sys, pickle\n"
        "assert 'tiny' in toksmith.list_encoding_names() and 'gpt2' in toksmith.list_encoding_names()\n"
        "tiny = toksmith.get_encoding('tiny')\n"
        "assert tiny.encode('ab<|end|>', allowed_special='all') == [97, 98, 256]\n"
        "assert type(tiny) is toksmith.Encoding\n"
        "assert pickle.loads(pickle.dumps(tiny)).__dict__ is tiny.__dict__\n"
        "assert 'tiny' in toksmith.list_encoding_names()\n"
    )
    code += "" if installed else "assert 'tiktoken' not in sys.modules\n"
    done = in_child(plugins, code)
    assert done.returncode == 0, done.stderr


def test_plugins_that_are_wrong(plugins: Path) -> None:
    list_them = "import toksmith; toksmith.list_encoding_names()"
    for content, expected in (
        ("", "does not define ENCODING_CONSTRUCTORS"),
        ("ENCODING_CONSTRUCTORS = {'gpt2': dict}", "Duplicate encoding name gpt2"),
    ):
        (plugins / "zz.py").write_text(content)
        done = in_child(plugins, list_them)
        assert done.returncode == 1
        assert expected in done.stderr


def test_the_stand_in_has_the_names_of_tiktoken() -> None:
    import types

    private_parts = {"annotations", "_tiktoken", "_educational", "TYPE_CHECKING"}
    pairs = [(tiktoken, compat)]
    for name in ("core", "load", "model", "registry"):
        pairs.append((__import__(f"tiktoken.{name}", fromlist=["_"]), getattr(compat, name)))
    for theirs, ours in pairs:
        for name, value in vars(theirs).items():
            if (name.startswith("_") and name != "__version__") or name in private_parts:
                continue
            if isinstance(value, types.ModuleType) and not value.__name__.startswith("tiktoken."):
                continue
            if getattr(value, "__module__", "tiktoken").partition(".")[0] not in ("tiktoken", "builtins"):
                continue
            assert hasattr(ours, name), f"{theirs.__name__}.{name}"
    with pytest.raises(AttributeError):
        _ = compat.registry.nothing
    compat.list_encoding_names()
    assert compat.registry.ENCODING_CONSTRUCTORS is registry.ENCODING_CONSTRUCTORS


def test_the_readers_of_the_stand_in(shared_data: Path, r50k: bytes, tmp_path: Path) -> None:
    from tiktoken.load import data_gym_to_mergeable_bpe_ranks, load_tiktoken_bpe

    path = shared_data / "vocabs/gpt2.tiktoken"
    expected = load_tiktoken_bpe(str(path))
    assert compat.load.load_tiktoken_bpe(str(path), published.FILES["r50k_base"].sha256) == expected
    with pytest.raises(ValueError, match="SHA-256"):
        compat.load.load_tiktoken_bpe(str(path), "0" * 64)
    copied = tmp_path / "copy.tiktoken"
    compat.load.dump_tiktoken_bpe(expected, copied)
    assert copied.read_bytes() == r50k
    merges = tmp_path / "vocab.bpe"
    merges.write_bytes(
        b"#version: 0.2\n" + (shared_data / "vocabs/gpt2_merges.txt").read_bytes().removeprefix(b"#version: 0.2\n")
    )
    for clobber in (False, True):
        files = (str(merges), str(shared_data / "vocabs/gpt2_vocab.json"), None, None, clobber)
        assert compat.load.data_gym_to_mergeable_bpe_ranks(*files) == data_gym_to_mergeable_bpe_ranks(*files)
    place("r50k_base", tmp_path / "own", r50k, hashed=False)
    url, sha256 = published.FILES["r50k_base"]
    assert compat.load.load_tiktoken_bpe(url, sha256) == expected
    with pytest.raises(FileNotFoundError):  # its name alone does not say that it is the one
        compat.load.read_file_cached(url)
    arguments: Callable[[], dict[str, object]] = registry._constructors()["gpt2"]
    assert arguments()["mergeable_ranks"] == expected
