"""What a folder or an object of `transformers` says of itself is there again after toksmith: in a new folder, or in
a tokenizer with toksmith inside. The original is loaded beside it each time."""

import copy
import importlib.util
import json
import pickle
import random
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from huggingface_cases import byte_level, make, text_of
from huggingface_peers import transformers_module
from test_compat_transformers import plain
from tokenizers import AddedToken, normalizers

import toksmith
from toksmith import Tokenizer

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("transformers") is None, reason="needs the package transformers"
)

TEMPLATE = "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
ADDED = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<unk>", "<pad>", "<mask>", "<cls>", "<sep>"]
SAID = (
    *("bos_token", "eos_token", "unk_token", "pad_token", "sep_token", "cls_token", "mask_token"),
    *("bos_token_id", "eos_token_id", "unk_token_id", "pad_token_id", "mask_token_id"),
    *("chat_template", "model_max_length", "padding_side", "truncation_side", "clean_up_tokenization_spaces"),
    *("extra_special_tokens", "all_special_tokens", "all_special_ids", "special_tokens_map", "added_tokens_decoder"),
    *("model_input_names", "split_special_tokens", "vocab_size", "is_fast", "pad_token_type_id", "add_prefix_space"),
    *("add_bos_token", "add_eos_token"),
)
KEPT_IN_FILES = ("tokenizer_config.json", "special_tokens_map.json", "generation_config.json", "chat_template.jinja")


def backend(**options: Any) -> Any:
    """A backend as Qwen's: special tokens beside the model, and added tokens that are not special."""
    made = make(byte_level(), normalizers.NFC(), **options)
    made.add_special_tokens(ADDED)
    made.add_tokens([AddedToken("<tool>", normalized=False), AddedToken("<think>", lstrip=True, normalized=False)])
    return made


def fast(**options: Any) -> Any:
    return transformers_module().PreTrainedTokenizerFast(tokenizer_object=backend(), **options)


OPTIONS: dict[str, dict[str, Any]] = {
    "instruct": {
        "eos_token": "<|im_end|>",
        "pad_token": "<|endoftext|>",
        "chat_template": TEMPLATE,
        "model_max_length": 32768,
        "extra_special_tokens": ["<|im_start|>"],
        "errors": "replace",
    },
    "sides": {"pad_token": "<pad>", "padding_side": "left", "truncation_side": "left", "eos_token": "<|endoftext|>"},
    "several templates": {"chat_template": {"default": TEMPLATE, "tools": "{{ 1 }}"}, "unk_token": "<unk>"},
    "all roles": {f"{role}_token": f"<{role}>" for role in ("cls", "sep", "mask", "pad", "unk")},
    "flags": {
        "mask_token": AddedToken("<mask>", lstrip=True, normalized=False, special=True),
        "model_input_names": ["input_ids", "token_type_ids"],
        "clean_up_tokenization_spaces": True,
    },
    "special tokens as text": {"split_special_tokens": True, "eos_token": "<sep>"},
    "bos and eos": {"bos_token": "<cls>", "eos_token": "<sep>", "add_bos_token": True, "add_eos_token": True},
    "named tokens": {"extra_special_tokens": {"image_token": "<|im_start|>"}, "eos_token": "<sep>"},
    "nothing": {},
}


def assert_same(ours: Any, theirs: Any, texts: int = 40) -> None:
    for name in SAID:
        assert getattr(ours, name, None) == getattr(theirs, name, None), name
    assert len(ours) == len(theirs)
    assert ours.get_vocab() == theirs.get_vocab()
    rng = random.Random(1)
    pads = theirs.pad_token is not None
    for _ in range(texts):
        batch = [text_of(rng, 8) + rng.choice(["", "<|im_end|>", " <tool>", "  <think>"]) for _ in range(3)]
        cut = rng.choice([{}, {"truncation": True, "max_length": 9}])
        options = {"padding": pads, "return_offsets_mapping": True, **cut}
        assert plain(ours(batch, **options)) == plain(theirs(batch, **options))
        assert plain(ours(batch[0], batch[1])) == plain(theirs(batch[0], batch[1]))
        ids = theirs(batch[0])["input_ids"]
        for skip in (True, False):
            assert ours.decode(ids, skip_special_tokens=skip) == theirs.decode(ids, skip_special_tokens=skip)
        assert ours.tokenize(batch[1]) == theirs.tokenize(batch[1])
        assert ours(batch[2]).word_ids() == theirs(batch[2]).word_ids()
    if isinstance(theirs.chat_template, str):
        chat = [{"role": "user", "content": "the <|im_end|>King"}]
        for options in ({"tokenize": False}, {}, {"sanitize_control_tokens": True}):
            assert ours.apply_chat_template(chat, **options) == theirs.apply_chat_template(chat, **options)


class _Errors:
    """All warnings of toksmith are errors."""

    def __enter__(self) -> None:
        self.inner = warnings.catch_warnings()
        self.inner.__enter__()
        warnings.filterwarnings("error", category=UserWarning)

    def __exit__(self, *error: Any) -> None:
        self.inner.__exit__(*error)


@pytest.mark.parametrize("name", OPTIONS)
def test_folders_and_objects(name: str, tmp_path: Path) -> None:
    from toksmith.compat.huggingface import ToksmithTokenizer, pretrained

    auto = transformers_module().AutoTokenizer
    fast(**OPTIONS[name]).save_pretrained(tmp_path / "original")
    theirs = auto.from_pretrained(str(tmp_path / "original"))
    assert_same(ToksmithTokenizer.from_pretrained(str(tmp_path / "original")), theirs)
    with _Errors():
        of_folder = Tokenizer.from_huggingface(tmp_path / "original")
        theirs.backend_tokenizer.encode_special_tokens = False  # transformers sets it again in each call
        of_object = Tokenizer.from_huggingface(theirs)
        of_file = Tokenizer.from_huggingface(tmp_path / "original" / "tokenizer.json")
        assert of_folder == of_file and (of_object == of_file) != ("split_special_tokens" in OPTIONS[name])
        if of_folder != of_object:  # special tokens are text: they are no added tokens any more
            text = "low<sep> <|im_start|>lower</s>"
            of_folder.save_huggingface(tmp_path / "split")
            ids = auto.from_pretrained(str(tmp_path / "original"))(text, add_special_tokens=False)["input_ids"]
            again = auto.from_pretrained(str(tmp_path / "split"))(text, add_special_tokens=False)["input_ids"]
            assert of_folder.encode(text) == ids == again
            of_folder = of_file = of_object
        for i, core in enumerate((of_folder, of_object, of_file)):
            core.save_huggingface(tmp_path / f"again{i}")
            assert_same(auto.from_pretrained(str(tmp_path / f"again{i}")), theirs, 15)
            assert_same(pretrained(core), theirs, 15)
    assert_same(pretrained(theirs), theirs)


def test_files_are_written_as_they_were(tmp_path: Path) -> None:
    fast(**OPTIONS["instruct"]).save_pretrained(tmp_path / "original")
    config = json.loads((tmp_path / "original/tokenizer_config.json").read_text("utf-8")) | {
        "of_somebody": [1, {"a": None}]
    }
    (tmp_path / "original/tokenizer_config.json").write_text(json.dumps(config), "utf-8")
    generation = {"eos_token_id": [3, 5], "temperature": 0.7}
    (tmp_path / "original/generation_config.json").write_text(json.dumps(generation), "utf-8")
    (tmp_path / "original/special_tokens_map.json").write_text('{"eos_token": "<|im_end|>"}', "utf-8")
    (tmp_path / "original/additional_chat_templates").mkdir()
    (tmp_path / "original/additional_chat_templates/rag.jinja").write_text("{{ 2 }}", "utf-8")
    Tokenizer.from_huggingface(tmp_path / "original").save_huggingface(tmp_path / "again")
    for name in (*KEPT_IN_FILES, "additional_chat_templates/rag.jinja"):
        old, new = ((tmp_path / folder / name).read_text("utf-8") for folder in ("original", "again"))
        assert (json.loads(old) == json.loads(new)) if name.endswith(".json") else old == new, name
    with pytest.warns(
        UserWarning, match=r"generation_config\.json keeps eos_token_id \[3, 5\], .* '<\|endoftext\|>'"
    ):
        Tokenizer.from_huggingface(tmp_path / "original").save_huggingface(tmp_path / "x", eos_token="<|endoftext|>")


PROGRAM = "import pickle, sys; pickle.load(open(sys.argv[1], 'rb')).save_huggingface(sys.argv[2])"


@pytest.mark.parametrize("name", ["instruct", "several templates"])
def test_our_own_files_and_pickles_keep_it(name: str, tmp_path: Path) -> None:
    theirs = fast(**OPTIONS[name])
    core = Tokenizer.from_huggingface(theirs)
    core.save(tmp_path / "t.json")
    Tokenizer.load(tmp_path / "t.json").save_huggingface(tmp_path / "of_file")
    (tmp_path / "t.pickle").write_bytes(pickle.dumps(core))
    run = [sys.executable, "-c", PROGRAM, str(tmp_path / "t.pickle"), str(tmp_path / "of_pickle")]
    subprocess.run(run, check=True)  # in another process, where no equal tokenizer is
    for folder in ("of_file", "of_pickle"):
        assert_same(transformers_module().AutoTokenizer.from_pretrained(str(tmp_path / folder)), theirs, 5)


def test_changed_files_of_ours_are_refused(tmp_path: Path) -> None:
    core = Tokenizer.from_huggingface(fast(**OPTIONS["instruct"]))
    core.save(tmp_path / "t.json")
    content = json.loads((tmp_path / "t.json").read_text("utf-8"))
    for path, value, message in (
        (("files",), {"../evil": "x"}, r'"\.\./evil" is not a file that toksmith reads'),
        (("files",), {"additional_chat_templates/../x.jinja": "x"}, "is not a file that toksmith reads"),
        (("files",), {"tokenizer_config.json": "x"}, "is not a file that toksmith reads"),
        (("files",), [], "not what save"),
    ):
        changed = copy.deepcopy(content)
        place = changed["huggingface"]
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        (tmp_path / "x.json").write_text(json.dumps(changed), "utf-8")
        with pytest.raises(ValueError, match=message):
            Tokenizer.load(tmp_path / "x.json")


def test_the_vocabulary_is_as_it_was(tmp_path: Path) -> None:
    theirs = fast(**OPTIONS["instruct"])
    Tokenizer.from_huggingface(theirs).save_huggingface(tmp_path)
    old, new = (
        json.loads(theirs.backend_tokenizer.to_str()),
        json.loads((tmp_path / "tokenizer.json").read_text("utf-8")),
    )
    new["model"]["merges"] = [merge.split(" ") for merge in new["model"]["merges"]]
    assert new == old


def test_what_is_given_replaces_what_was_there(tmp_path: Path) -> None:
    from toksmith.compat.huggingface import pretrained

    auto = transformers_module().AutoTokenizer
    theirs = fast(**OPTIONS["instruct"])
    core = Tokenizer.from_huggingface(theirs)
    chosen = {"eos_token": "<|endoftext|>", "pad_token": "<pad>", "chat_template": "{{ 3 }}", "model_max_length": 5}
    core.save_huggingface(tmp_path / "a", **chosen)
    made = auto.from_pretrained(str(tmp_path / "a")), pretrained(core, **chosen), pretrained(theirs, **chosen)
    for found in made:
        assert {name: getattr(found, name) for name in chosen} == chosen
        assert found.extra_special_tokens == ["<|im_start|>"]
    assert theirs.eos_token == "<|im_end|>"
    core.save_huggingface(tmp_path / "b", eos_token=None)
    assert auto.from_pretrained(str(tmp_path / "b")).eos_token is None
    assert pretrained(core, eos_token=None).eos_token is None
    assert pretrained(core, padding_side="left").padding_side == "left"
    for make_one in (lambda: pretrained(core, eos_token="<no>"), lambda: pretrained(theirs, eos_token="<no>")):
        with pytest.raises(ValueError, match="eos_token is '<no>', which is no"):
            make_one()
    for options in ({"cls_token": "<no>"}, {"extra_special_tokens": ["<pad>", "<no>"]}):
        with pytest.raises(ValueError, match=r"_tokens? is '<no>', which is no"):
            pretrained(core, **options)


def test_roles_are_set_before_what_they_are_needed_for() -> None:
    from toksmith.compat.huggingface import pretrained

    for options in ({"add_bos_token": True, "bos_token": "<pad>"}, {"bos_token": "<pad>", "add_bos_token": True}):
        made = pretrained(fast(**OPTIONS["instruct"]), **options)
        assert made("a")["input_ids"][0] == made.convert_tokens_to_ids("<pad>")


def test_what_cannot_be_kept_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "original"
    fast(**OPTIONS["instruct"]).save_pretrained(folder)
    (folder / "generation_config.json").write_text("{", "utf-8")
    with pytest.warns(UserWarning, match=r"what generation_config\.json says .* is not kept"):
        Tokenizer.from_huggingface(folder)
    (folder / "generation_config.json").unlink()
    config = json.loads((folder / "tokenizer_config.json").read_text("utf-8"))
    (folder / "tokenizer_config.json").write_text(json.dumps(config | {"auto_map": {"AutoTokenizer": ["a.B", None]}}))
    with pytest.warns(UserWarning, match="auto_map names code beside it"):
        Tokenizer.from_huggingface(folder).save_huggingface(tmp_path / "x")
    del config["tokenizer_class"]
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    (folder / "config.json").write_text('{"model_type": "qwen2"}')
    Tokenizer.from_huggingface(folder).save_huggingface(tmp_path / "y")
    assert json.loads((tmp_path / "y/tokenizer_config.json").read_text())["tokenizer_class"] == "Qwen2Tokenizer"
    assert not (tmp_path / "y/config.json").exists()
    (folder / "config.json").write_text('{"model_type": "of nobody"}')
    with pytest.warns(UserWarning, match="the model is of type 'of nobody'"):
        Tokenizer.from_huggingface(folder).save_huggingface(tmp_path / "z")


def test_shrinking_keeps_roles(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot shrink a tokenizer that does more"):
        toksmith.surgery.shrink(Tokenizer.from_huggingface(fast()), 300)
    content = json.loads(backend().to_str())
    content["normalizer"] = None
    for token in content["added_tokens"]:
        token.update(lstrip=False, special=True)
    regular = tokenizers.Tokenizer.from_str(json.dumps(content))
    core = Tokenizer.from_huggingface(
        transformers_module().PreTrainedTokenizerFast(tokenizer_object=regular, **OPTIONS["sides"])
    )
    toksmith.surgery.shrink(core, core.vocab_size - 5).save_huggingface(tmp_path)
    found = transformers_module().AutoTokenizer.from_pretrained(str(tmp_path))
    assert (found.eos_token, found.pad_token, found.padding_side) == ("<|endoftext|>", "<pad>", "left")


# Classes of models


def model_classes() -> dict[str, Any]:
    module = transformers_module()
    names = (
        *("GPT2Tokenizer", "Qwen2Tokenizer", "CohereTokenizer", "DebertaTokenizer", "CodeGenTokenizer"),
        *("WhisperTokenizer", "RobertaTokenizer", "GPTNeoXTokenizer", "BlenderbotTokenizer", "LongformerTokenizer"),
        *("BartTokenizer", "LEDTokenizer", "MvpTokenizer", "BloomTokenizerFast", "Gemma2Tokenizer"),
    )
    return {name: getattr(module, name) for name in names if hasattr(module, name)}


def of_class(name: str) -> Any:
    """A tokenizer of a class with a byte-level vocabulary that has the tokens that the class wants."""
    kind = model_classes()[name]
    content = json.loads(make(byte_level()).to_str())
    vocab, merges = content["model"]["vocab"], [tuple(merge) for merge in content["model"]["merges"]]
    wanted = "<s> </s> <pad> <unk> <mask> [CLS] [SEP] [PAD] [UNK] [MASK] <UNK> <PAD> <BOS_TOKEN> <CLS> <SEP>"
    more = "<|END_OF_TURN_TOKEN|> <MASK_TOKEN> <|endoftext|> <|padding|>"
    for token in (*wanted.split(), *more.split()):
        vocab.setdefault(token, len(vocab))
    made = kind(vocab=vocab, merges=merges)
    if name == "WhisperTokenizer":
        made.add_special_tokens(
            {
                "extra_special_tokens": [
                    *(
                        "<|startoftranscript|>",
                        "<|en|>",
                        "<|de|>",
                        "<|translate|>",
                        "<|transcribe|>",
                        "<|notimestamps|>",
                    ),
                ]
            }
        )
        made.set_prefix_tokens(language="german", task="translate")
    return made


@pytest.mark.parametrize(
    "name",
    [
        "GPT2Tokenizer",
        "Qwen2Tokenizer",
        "CohereTokenizer",
        "DebertaTokenizer",
        "CodeGenTokenizer",
        "WhisperTokenizer",
        "RobertaTokenizer",
        "GPTNeoXTokenizer",
        "BlenderbotTokenizer",
    ],
)
def test_classes_keep_their_behaviour(name: str, tmp_path: Path) -> None:
    from toksmith.compat.huggingface import ToksmithTokenizer, pretrained

    theirs = of_class(name)
    made = pretrained(theirs)
    assert type(made) is type(theirs) is model_classes()[name]
    assert "transformers" in str(type(made))
    assert_same(made, theirs, 25)
    theirs.save_pretrained(tmp_path / "theirs")
    made.save_pretrained(tmp_path / "made")
    auto = transformers_module().AutoTokenizer
    again = auto.from_pretrained(str(tmp_path / "theirs"))
    for found in (
        auto.from_pretrained(str(tmp_path / "made")),
        ToksmithTokenizer.from_pretrained(str(tmp_path / "theirs")),
        pretrained(Tokenizer.from_huggingface(tmp_path / "theirs")),
    ):
        assert isinstance(found, type(again)) and type(found).__name__ == type(again).__name__
        assert_same(found, again, 10)
    for copied in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert type(copied) is type(made)
        assert_same(copied, theirs, 5)


def test_what_classes_do_beside() -> None:
    from toksmith.compat.huggingface import pretrained

    pairs = {name: (of_class(name), pretrained(of_class(name))) for name in ("CodeGenTokenizer", "WhisperTokenizer")}
    theirs, ours = pairs["CodeGenTokenizer"]
    ids = theirs("def the():\n  the\n\n\nprint")["input_ids"]
    stop = ["\n\n\n"]
    assert ours.decode(ids, truncate_before_pattern=stop) == theirs.decode(ids, truncate_before_pattern=stop)
    theirs, ours = pairs["WhisperTokenizer"]
    assert ours.prefix_tokens == theirs.prefix_tokens
    for tokenizer in (theirs, ours):
        tokenizer.set_prefix_tokens(language="english", task="transcribe", predict_timestamps=False)
    assert ours("the King")["input_ids"] == theirs("the King")["input_ids"]
    assert ours.decode(ours("the")["input_ids"], skip_special_tokens=True) == "the"


def test_classes_that_are_refused() -> None:
    from toksmith.compat.huggingface import pretrained

    module = transformers_module()
    words = module.BertTokenizer(vocab={"[UNK]": 0, "a": 1, "[CLS]": 2, "[SEP]": 3, "[PAD]": 4, "[MASK]": 5})
    with pytest.raises(ValueError, match=r"BertTokenizer: .*\$\.model"):
        pretrained(words)

    class Slow(module.PythonBackend):  # type: ignore[misc, name-defined]
        vocab_size = 1

        def get_vocab(self) -> dict[str, int]:
            return {}

        def _convert_token_to_id(self, token: str) -> int:
            return 0

    with pytest.raises(ValueError, match=r"Slow is not around a tokenizers\.Tokenizer"):
        pretrained(Slow())


@pytest.mark.parametrize("name", ["PreTrainedTokenizerFast", "GPT2Tokenizer", "RobertaTokenizer", "Qwen2Tokenizer"])
def test_training_anew(name: str, corpora: dict[str, str]) -> None:
    from toksmith.compat.huggingface import pretrained

    theirs = fast(**OPTIONS["instruct"]) if name == "PreTrainedTokenizerFast" else of_class(name)
    texts = [corpora["en"][i : i + 300] for i in range(0, 15_000, 300)]
    for options in ({}, {"new_special_tokens": ["<new>"], "min_frequency": 2, "show_progress": False}):
        expected = theirs.train_new_from_iterator([texts], 420, **options)
        found = pretrained(pretrained(theirs).train_new_from_iterator([texts], 420, **options))
        assert isinstance(found, type(theirs)) and isinstance(expected, type(theirs))
        assert_same(found, expected, 15)
        for text in texts[:10]:
            assert found(text)["input_ids"] == expected(text)["input_ids"]
