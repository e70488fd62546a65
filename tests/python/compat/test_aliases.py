"""Stand-ins under the names of their libraries: by `install()`, and by `python -m toksmith.run`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SUBMODULES = ["core", "load", "model", "registry", "_educational", "_tiktoken"]

# What programs import of tiktoken. Each line is run by itself, after the alias is there.
IMPORTS = [
    "import tiktoken; assert tiktoken is stand_in",
    "from tiktoken import Encoding, get_encoding, encoding_for_model; assert Encoding is toksmith.Encoding",
    "from tiktoken.load import load_tiktoken_bpe; assert load_tiktoken_bpe is stand_in.load.load_tiktoken_bpe",
    "import tiktoken.load; assert tiktoken.load is stand_in.load",
    "import tiktoken.load as load; assert load is stand_in.load",
    "from tiktoken.core import Encoding; assert Encoding is toksmith.Encoding",
    "from tiktoken.model import MODEL_TO_ENCODING; assert MODEL_TO_ENCODING['gpt-4o'] == 'o200k_base'",
    "from tiktoken.registry import list_encoding_names; assert 'gpt2' in list_encoding_names()",
    "from tiktoken._educational import *; assert SimpleBytePairEncoding.__module__.startswith('toksmith')",
    "from tiktoken._educational import bpe_train, bpe_encode, train_simple_encoding",
    "from tiktoken import _tiktoken; assert _tiktoken.CoreBPE.__module__.startswith('toksmith')",
    "import tiktoken_ext.openai_public; assert 'cl100k_base' in tiktoken_ext.openai_public.ENCODING_CONSTRUCTORS",
    "from tiktoken_ext import openai_public; assert openai_public.ENDOFTEXT == '<|endoftext|>'",
    "from importlib.util import find_spec; assert find_spec('tiktoken') and find_spec('tiktoken.load')",
    "import tiktoken, importlib; assert importlib.import_module('.load', 'tiktoken') is stand_in.load",
    "import tiktoken, sys, warnings; warnings.simplefilter('error'); tiktoken.load.check_hash(b'', ''); "
    "assert tiktoken.load.__spec__.name == 'toksmith.compat.tiktoken.load' == tiktoken.load.__name__",
    "import tiktoken\ntry:\n    import tiktoken.nothing\nexcept ModuleNotFoundError as error:\n    pass\n"
    "else:\n    raise AssertionError",
    "import tiktoken; encoding = tiktoken.Encoding('x', pat_str='.', special_tokens={}, mergeable_ranks="
    "{bytes([byte]): byte for byte in range(256)}); assert 'tiktoken' in str(type(encoding)), type(encoding)",
]
INSTALLED = "import toksmith, toksmith.compat.tiktoken as stand_in; stand_in.install(); stand_in.install()\n"
# As where tiktoken is not installed.
HIDDEN = """
import importlib.machinery, sys
found = importlib.machinery.PathFinder.find_spec
class PathFinder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition('.')[0] not in ('tiktoken', 'tiktoken_ext'):
            return found(name, path, target)
sys.meta_path[:] = [PathFinder if one is importlib.machinery.PathFinder else one for one in sys.meta_path]
importlib.machinery.PathFinder.find_spec = PathFinder.find_spec
"""


def run(program: str, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *(arguments or ("-c", program))]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd, env={**os.environ})


@pytest.mark.parametrize("hidden", [False, True], ids=["with tiktoken", "without tiktoken"])
def test_imports_under_the_alias(hidden: bool) -> None:
    tests = "\n".join(f"exec(compile({line!r}, {line!r}, 'exec'), dict(globals()))" for line in IMPORTS)
    done = run((HIDDEN if hidden else "") + INSTALLED + tests)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.parametrize("first", IMPORTS)
def test_each_import_comes_first(first: str) -> None:
    done = run(INSTALLED + first)
    assert done.returncode == 0, done.stderr[-2000:]


def test_the_originals_work_without_an_alias() -> None:
    lines = [
        "import toksmith.compat.tiktoken, tiktoken, tiktoken.load, tiktoken_ext.openai_public as public",
        "assert tiktoken.Encoding.__module__ == 'tiktoken.core' and tiktoken.load.__name__ == 'tiktoken.load'",
        "assert public.__name__ == 'tiktoken_ext.openai_public'",
    ]
    done = run("\n".join(lines))
    assert done.returncode == 0, done.stderr[-2000:]


def test_installing_and_uninstalling() -> None:
    import tiktoken

    from toksmith.compat import tiktoken as stand_in

    before = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "tiktoken"}
    first = stand_in.install()
    try:
        assert sys.modules["tiktoken"] is stand_in
        from tiktoken.load import load_tiktoken_bpe

        assert load_tiktoken_bpe is stand_in.load.load_tiktoken_bpe
        with stand_in.install() as again:  # what is there already stays
            assert sys.modules["tiktoken"] is stand_in
        assert sys.modules["tiktoken"] is stand_in and "as tiktoken" in repr(again)
    finally:
        first.uninstall()
    first.uninstall()
    again.uninstall()
    assert sys.modules["tiktoken"] is tiktoken and "no longer" in repr(first)
    assert {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "tiktoken"} == before
    with stand_in.install():
        assert sys.modules["tiktoken"] is stand_in
    assert sys.modules["tiktoken"] is tiktoken


def test_minbpe_and_rustbpe() -> None:
    lines = [
        "import toksmith.compat.minbpe as ours, toksmith.compat.rustbpe as rust",
        "ours.install(); rust.install()",
        "from minbpe.base import Tokenizer, get_stats, merge",
        "from minbpe import BasicTokenizer",
        "from minbpe.regex import RegexTokenizer",
        "from minbpe.gpt4 import GPT4Tokenizer, recover_merges",
        "import rustbpe",
        "assert issubclass(RegexTokenizer, Tokenizer) and Tokenizer is ours.Tokenizer and rustbpe is rust",
    ]
    done = run("\n".join(lines))
    assert done.returncode == 0, done.stderr[-2000:]


SCRIPT = """
import sys, tiktoken, helper
from tiktoken.load import load_tiktoken_bpe
print(tiktoken.__name__, load_tiktoken_bpe.__module__, sys.argv[1:], __name__, helper.VALUE)
"""


def test_running_a_program(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "helper.py").write_text("VALUE = 5\n")
    expected = "toksmith.compat.tiktoken toksmith.compat.tiktoken.load ['--flag', 'x'] __main__ 5\n"
    start = ("-m", "toksmith.run")
    for options in ((), ("--as", "tiktoken"), ("--as=tiktoken,rustbpe",)):
        done = run("", *start, *options, str(tmp_path / "script.py"), "--flag", "x")
        assert (done.stdout, done.returncode) == (expected, 0), done.stderr[-2000:]
    done = run("", *start, "-m", "script", "--flag", "x", cwd=tmp_path)
    assert (done.stdout, done.returncode) == (expected, 0), done.stderr[-2000:]
    done = run("", *start, "--as", "rustbpe", str(tmp_path / "script.py"))
    assert done.stdout.startswith("tiktoken tiktoken.load")


def test_a_program_that_is_not_named() -> None:
    for arguments in ((), ("--as",), ("--as", "tiktoken"), ("-x",), ("-m",), ("--ask", "x")):
        done = run("", "-m", "toksmith.run", *arguments)
        assert done.returncode == 2 and "usage:" in done.stderr and "Traceback" not in done.stderr
    done = run("", "-m", "toksmith.run", "--as", "sentencepiece", "x.py")
    assert (
        done.returncode == 2 and "no stand-in for 'sentencepiece': known are minbpe, rustbpe, tiktoken" in done.stderr
    )
    done = run("", "-m", "toksmith.run", "--help")
    assert done.returncode == 0 and done.stdout.startswith("usage:") and '"spawn"' in done.stdout


def test_running_a_program_that_uses_transformers(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import transformers, tokenizers\n"
        "from tokenizers import models, pre_tokenizers\n"
        "vocab = {c: i for i, c in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}\n"
        "made = tokenizers.Tokenizer(models.BPE(vocab, []))\n"
        "made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)\n"
        "fast = transformers.PreTrainedTokenizerFast(tokenizer_object=made)\n"
        "print(type(fast.backend_tokenizer).__module__, fast('ab')['input_ids'] == [vocab['a'], vocab['b']])\n",
        encoding="utf-8",
    )
    done = run("", "-m", "toksmith.run", "--as", "transformers", str(script))
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == "True"
    assert "toksmith" in done.stdout


def test_the_package_is_enough_for_all_stand_ins() -> None:
    script = (
        "import toksmith, sys\n"
        "assert not any(name.startswith('toksmith.compat') for name in sys.modules)\n"
        "assert 'gpt2' in toksmith.compat.tiktoken.list_encoding_names()\n"
        "assert toksmith.compat.minbpe.BasicTokenizer and toksmith.compat.rustbpe.Tokenizer\n"
        "assert toksmith.compat.huggingface.Tokenizer\n"
        "assert not hasattr(toksmith.compat, 'other') and not hasattr(toksmith, 'other')\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
