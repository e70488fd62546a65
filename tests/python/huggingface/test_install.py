"""`install`: whatever makes a fast tokenizer of `transformers`, toksmith is inside, and goes out again."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from huggingface_peers import transformers_module
from test_round_trips import OPTIONS, assert_same, backend, fast, of_class
from tokenizers import decoders

from toksmith.compat import huggingface
from toksmith.compat.huggingface import Tokenizer

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("transformers") is None, reason="needs the package transformers"
)


def is_ours(tokenizer: Any) -> bool:
    return isinstance(tokenizer.backend_tokenizer, Tokenizer)


@pytest.mark.parametrize("name", ["instruct", "bos and eos", "sides"])
def test_all_ways_to_make_one(name: str, tmp_path: Path) -> None:
    module = transformers_module()
    fast(**OPTIONS[name]).save_pretrained(tmp_path)
    path = str(tmp_path)
    ways = (
        lambda: module.AutoTokenizer.from_pretrained(path),
        lambda: module.PreTrainedTokenizerFast.from_pretrained(path),
        lambda: module.PreTrainedTokenizerFast(tokenizer_file=f"{path}/tokenizer.json", **OPTIONS[name]),
        lambda: fast(**OPTIONS[name]),
    )
    theirs = [make() for make in ways]
    with huggingface.install() as installed:
        found = [make() for make in ways]
        assert all(map(is_ours, found))
        assert installed.kept == {}
    for ours, other in zip(found, theirs, strict=True):
        assert type(ours) is type(other)
        assert_same(ours, other, 10)
    assert not any(map(is_ours, [make() for make in ways]))


@pytest.mark.parametrize("name", ["CohereTokenizer", "WhisperTokenizer", "GPT2Tokenizer", "RobertaTokenizer"])
def test_classes_of_models(name: str, corpora: dict[str, str], tmp_path: Path) -> None:
    theirs = of_class(name)
    with huggingface.install():
        ours = of_class(name)
        assert type(ours) is type(theirs)
        assert is_ours(ours)
        assert_same(ours, theirs, 15)
        ours.save_pretrained(tmp_path)
        texts = [corpora["en"][:3000]]
        if name == "GPT2Tokenizer":
            assert_same(ours.train_new_from_iterator([texts], 300), theirs.train_new_from_iterator([texts], 300), 5)
    assert_same(transformers_module().AutoTokenizer.from_pretrained(str(tmp_path)), theirs, 5)


def test_twice_and_back() -> None:
    original = transformers_module().PreTrainedTokenizerFast.__init__
    first = huggingface.install()
    assert huggingface.install() is first
    assert is_ours(fast())
    assert is_ours(huggingface.pretrained(fast()))
    first.uninstall()
    first.uninstall()
    assert transformers_module().PreTrainedTokenizerFast.__init__ is original
    assert not is_ours(fast())
    again = huggingface.install()
    assert again is not first
    first.uninstall()  # does not end another
    assert is_ours(fast())
    again.uninstall()
    assert transformers_module().PreTrainedTokenizerFast.__init__ is original


def test_transformers_streams_the_text_of_the_tokenizer_inside() -> None:
    original = decoders.DecodeStream
    theirs = fast().backend_tokenizer
    with huggingface.install():
        for tokenizer in (fast().backend_tokenizer, theirs):
            stream = decoders.DecodeStream([], skip_special_tokens=True)
            assert stream.step(tokenizer, theirs.token_to_id("a")) == "a"
    assert decoders.DecodeStream is original
    with pytest.raises(TypeError):
        original().step(huggingface.pretrained(fast()).backend_tokenizer, 1)


def test_what_is_not_supported_stays_as_it_is() -> None:
    kind = transformers_module().BertTokenizer
    vocab = {"[UNK]": 0, "a": 1, "[CLS]": 2, "[SEP]": 3, "[PAD]": 4, "[MASK]": 5}
    with (
        huggingface.install() as installed,
        pytest.warns(UserWarning, match=r"stays as it is, without toksmith: BertTokenizer: \$\.model"),
    ):
        made = kind(vocab=vocab)
    assert not is_ours(made)
    assert "WordPiece" in installed.kept["BertTokenizer"]
    assert made("a")["input_ids"] == [2, 1, 3]


def test_programs_see_the_names_that_they_look_for() -> None:
    # Programs choose by `"tokenizers" in str(type(x))` and `"transformers" in str(type(x))`.
    adapter = Tokenizer.from_str(backend().to_str())
    assert "tokenizers" in str(type(adapter))
    assert type(adapter).__module__.rpartition(".")[2] == "tokenizers"
    for made in (huggingface.pretrained(adapter), huggingface.pretrained(of_class("GPT2Tokenizer"))):
        assert "transformers" in str(type(made))
    with huggingface.install():
        assert "transformers" in str(type(of_class("GPT2Tokenizer")))


def test_the_adapter_needs_tokenizers_alone() -> None:
    program = (
        "import sys\n"
        "sys.modules['transformers'] = None\n"
        "from toksmith.compat.huggingface import ByteLevelBPETokenizer\n"
        "made = ByteLevelBPETokenizer()\n"
        "made.train_from_iterator(['ab ab'], vocab_size=259, special_tokens=['<s>'], show_progress=False)\n"
        "print(made.encode('x  ab<s>').tokens)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "['x', 'Ġ', 'Ġ', 'ab', '<s>']\n"
    program = "import sys; sys.modules['tokenizers'] = None; import toksmith.compat.huggingface"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "toksmith.compat.huggingface needs the package `tokenizers` before 1.0: install it" in done.stderr
