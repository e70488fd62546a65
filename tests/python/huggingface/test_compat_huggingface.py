"""The adapter beside `tokenizers`: every attribute of every encoding, with every setting."""

import asyncio
import copy
import json
import pickle
import random
from pathlib import Path
from typing import Any

import pytest
from huggingface_peers import EOT, PAD, loaded, random_text, tokenizers_module, trained, view

from toksmith import Tokenizer as Core
from toksmith import patterns
from toksmith.compat.huggingface import Encoding, Tokenizer

SPECIALS = (EOT, PAD, "<|user|>")


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return loaded(trained(), tmp_path_factory.mktemp("hf"))


@pytest.fixture
def pair(theirs: Any) -> tuple[Any, Tokenizer]:
    return tokenizers_module().Tokenizer.from_str(theirs.to_str()), Tokenizer(trained())


def processors() -> list[Any]:
    made = tokenizers_module().processors
    named = [(EOT, 0), (PAD, 1)]
    template = made.TemplateProcessing(
        single=f"{EOT} $A", pair=f"{EOT} $A:0 {PAD}:2 $B:1 {PAD}:1", special_tokens=named
    )
    trims = made.ByteLevel(trim_offsets=True, add_prefix_space=False)
    return [
        None,
        template,
        made.TemplateProcessing(single="$A:1", pair="$B:1 $A:0", special_tokens=[]),
        trims,
        made.ByteLevel(trim_offsets=True, add_prefix_space=True),
        made.RobertaProcessing((PAD, 1), (EOT, 0)),
        made.BertProcessing((PAD, 1), (EOT, 0)),
        made.Sequence([trims, template]),
    ]


def attempt(call: Any, *arguments: Any) -> Any:
    """What a call gives, or that it raises; `tokenizers` raises its own exceptions, panics among them."""
    try:
        return call(*arguments)
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, AssertionError)):
            raise
        return "refused"


def settings(rng: random.Random) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    strategy = rng.choice(["longest_first", "longest_first", "only_first", "only_second"])
    room = rng.randrange(10, 30)
    direction = rng.choice(["left", "right"])
    truncation = {"max_length": room, "stride": rng.randrange(2), "strategy": strategy, "direction": direction}
    padding = {
        "direction": rng.choice(["left", "right"]),
        "pad_id": 1,
        "pad_type_id": rng.randrange(3),
        "pad_token": PAD,
        "length": rng.choice([None, rng.randrange(30)]),
        "pad_to_multiple_of": rng.choice([None, 8]),
    }
    return rng.choice([None, truncation]), rng.choice([None, padding])


def views(call: Any, *arguments: Any) -> list[dict[str, Any]]:
    return [view(encoding) for encoding in call(*arguments)]


def check_random_calls(pair: tuple[Any, Tokenizer], seed: int, rounds: int) -> None:
    rng, other_and_ours = random.Random(seed), pair
    for _ in range(rounds):
        processor, (truncation, padding) = rng.choice(processors()[1:]), settings(rng)
        for tokenizer in other_and_ours:
            tokenizer.post_processor = processor
            tokenizer.enable_truncation(**truncation) if truncation else tokenizer.no_truncation()
            tokenizer.enable_padding(**padding) if padding else tokenizer.no_padding()
        other, ours = pair
        assert (ours.truncation, ours.padding) == (other.truncation, other.padding)
        words, added = rng.random() < 0.3, rng.random() < 0.7

        def text(words: bool = words) -> Any:
            return [random_text(rng) for _ in range(rng.randrange(4))] if words else random_text(rng)

        first, second = text(), rng.choice([None, text()])
        found = [attempt(tokenizer.encode, first, second, words, added) for tokenizer in pair]
        assert_equal(*found)
        batch = [text() if rng.random() < 0.5 else (text(), text()) for _ in range(rng.randrange(4))]
        for name in ("encode_batch", "encode_batch_fast"):
            both = [attempt(views, getattr(tokenizer, name), batch, words, added) for tokenizer in pair]
            assert both[0] == both[1], (name, batch, truncation, padding, processor)


def assert_equal(theirs: Any, ours: Any) -> None:
    if "refused" in (theirs, ours):
        assert theirs == ours
        return
    assert view(theirs) == view(ours)
    assert len(theirs) == len(ours)
    for at in range(len(theirs) + 2):
        for name in ("token_to_sequence", "token_to_chars", "token_to_word"):
            assert getattr(theirs, name)(at) == getattr(ours, name)(at), (name, at)
        for name in ("char_to_token", "char_to_word", "word_to_tokens", "word_to_chars"):
            for sequence in (0, 1):
                assert getattr(theirs, name)(at, sequence) == getattr(ours, name)(at, sequence), (name, at)


@pytest.mark.parametrize("seed", range(4))
def test_random_calls(pair: tuple[Any, Tokenizer], seed: int) -> None:
    check_random_calls(pair, seed, 120)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 120))
def test_more_random_calls(pair: tuple[Any, Tokenizer], seed: int) -> None:
    check_random_calls(pair, seed, 1500)


def test_without_a_post_processor(pair: tuple[Any, Tokenizer]) -> None:
    other, ours = pair
    rng = random.Random(9)
    for _ in range(300):
        first, second = random_text(rng, SPECIALS), rng.choice([None, random_text(rng)])
        assert_equal(other.encode(first, second), ours.encode(first, second))
    for length in (0, 1, 5, 9):
        for tokenizer in pair:
            tokenizer.enable_truncation(length)
        for text in ("", "the quick brown fox", "a"):
            assert_equal(other.encode(text, "jumps over the lazy dog"), ours.encode(text, "jumps over the lazy dog"))


@pytest.mark.parametrize("pattern", ["cl100k", "o200k", "qwen2", None, r"\w+|[^\w\s]+|\s+"])
@pytest.mark.parametrize("unmatched", ["keep", "drop"])
def test_words_under_other_patterns(pattern: Any, unmatched: Any, tmp_path: Path) -> None:
    core = trained("last")
    ordinary = {id: token for id, token in core.vocab.items() if id not in core.special_tokens.values()}
    core = Core(ordinary, core.merges, core.special_tokens, pattern=pattern, unmatched=unmatched)
    other, ours = loaded(core, tmp_path), Tokenizer(core)
    rng = random.Random(10)
    for _ in range(200):
        text = random_text(rng)
        assert view(other.encode(text)) == view(ours.encode(text))


def test_words_beside_dropped_text(tmp_path: Path) -> None:
    core = Core(None, None, [EOT], pattern=r"(?<=x)a|b+", unmatched="drop")
    other, ours = loaded(core, tmp_path), Tokenizer(core)
    for text in ("a xa", f"a é xabb{EOT}a xa", "", "cc", f"é{EOT}éb"):
        theirs, mine = other.encode(text), ours.encode(text)
        assert (theirs.ids, theirs.tokens, theirs.word_ids) == (mine.ids, mine.tokens, mine.word_ids)
        assert theirs.offsets == mine.offsets


def test_the_vocabulary(pair: tuple[Any, Tokenizer]) -> None:
    other, ours = pair
    for added in (True, False):
        assert ours.get_vocab(added) == other.get_vocab(added)
        assert ours.get_vocab_size(added) == other.get_vocab_size(added)
    for token in [*other.get_vocab(), "", "zzzzq", "a b", "中", "\xa0", "<|x|>"]:
        assert ours.token_to_id(token) == other.token_to_id(token), token
    for id in range(other.get_vocab_size() + 3):
        assert ours.id_to_token(id) == other.id_to_token(id)
    assert ours.get_added_tokens_decoder() == other.get_added_tokens_decoder()
    assert [ours.num_special_tokens_to_add(pair) for pair in (False, True)] == [0, 0]


def test_decoding(pair: tuple[Any, Tokenizer]) -> None:
    other, ours = pair
    rng = random.Random(11)
    batch = [rng.choices(range(other.get_vocab_size() + 5), k=rng.randrange(12)) for _ in range(300)]
    for skip in (True, False):
        for ids in batch:
            assert ours.decode(ids, skip) == other.decode(ids, skip_special_tokens=skip), ids
        assert ours.decode_batch(batch, skip) == other.decode_batch(batch, skip_special_tokens=skip)
    assert ours.decoder.decode(["Ġa", "b", PAD, "é"]) == other.decoder.decode(["Ġa", "b", PAD, "é"])


def test_in_an_event_loop(pair: tuple[Any, Tokenizer]) -> None:
    async def all_of(tokenizer: Any) -> list[Any]:
        one = await tokenizer.async_encode("the fox", "a", add_special_tokens=False)
        more = await tokenizer.async_encode_batch(["the", "quick fox"])
        fast = await tokenizer.async_encode_batch_fast(["the", "quick fox"])
        texts = await tokenizer.async_decode_batch([e.ids for e in more], skip_special_tokens=False)
        return [view(one), *map(view, more), [e.ids for e in fast], texts]

    assert asyncio.run(all_of(pair[1])) == asyncio.run(all_of(pair[0]))


def test_special_tokens_as_text(pair: tuple[Any, Tokenizer]) -> None:
    for tokenizer in pair:
        tokenizer.encode_special_tokens = True
    other, ours = pair
    text = f"a{EOT}b {PAD}"
    assert view(ours.encode(text)) == view(other.encode(text))
    assert view(ours.encode_batch([text])[0]) == view(other.encode_batch([text])[0])


def test_added_tokens(pair: tuple[Any, Tokenizer]) -> None:
    other, ours = pair
    token = tokenizers_module().AddedToken
    for add, tokens in (
        ("add_tokens", ["<x>", "", EOT, "<x>"]),
        ("add_special_tokens", ["<y>", token("<z>", special=True, normalized=False)]),
        ("add_tokens", [token("<w>", normalized=False)]),
    ):
        assert getattr(ours, add)(tokens) == getattr(other, add)(tokens)
    text = f"a<x>b<y> <z><w>{EOT}"
    assert view(ours.encode(text)) == view(other.encode(text))
    ids = ours.encode(text).ids
    for skip in (True, False):
        assert ours.decode(ids, skip) == other.decode(ids, skip_special_tokens=skip)
    assert ours.get_vocab_size(True) == other.get_vocab_size(True)
    assert ours.get_vocab_size(False) == other.get_vocab_size(False)
    for tokenizer in pair:
        with pytest.raises(TypeError, match="Input must be a List"):
            tokenizer.add_tokens([5])


def test_a_token_that_is_added_while_another_thread_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = Tokenizer(trained())
    ours.add_tokens(["<x>"])

    def to_str(tokenizer: Tokenizer) -> str:
        monkeypatch.undo()
        content = tokenizer.to_str()
        tokenizer.add_tokens(["<y>"])
        return content

    monkeypatch.setattr(Tokenizer, "to_str", to_str)
    ours.encode("<x>")
    assert ours.encode("<x><y>").tokens == ["<x>", "<y>"]


def test_what_is_written_is_what_tokenizers_writes(pair: tuple[Any, Tokenizer], tmp_path: Path) -> None:
    other, ours = pair
    for tokenizer in pair:
        tokenizer.enable_truncation(7, stride=2, strategy="only_first", direction="left")
        tokenizer.enable_padding(length=9, pad_id=1, pad_token=PAD)
        tokenizer.post_processor = processors()[1]
    assert ours.to_str() == other.to_str()
    ours.save(tmp_path / "t.json")
    read = tokenizers_module().Tokenizer.from_file(str(tmp_path / "t.json"))
    assert view(read.encode("the quick brown fox", "x")) == view(ours.encode("the quick brown fox", "x"))


@pytest.mark.skipif(not hasattr(Core, "from_huggingface"), reason="needs the reader of tokenizer.json")
def test_from_file_and_back(pair: tuple[Any, Tokenizer], tmp_path: Path) -> None:
    other, _ = pair
    other.post_processor = processors()[1]
    other.enable_truncation(11, stride=2)
    other.enable_padding(pad_id=1, pad_token=PAD)
    other.add_special_tokens(["<later>"])
    other.save(str(tmp_path / "t.json"))
    for ours in (Tokenizer.from_file(tmp_path / "t.json"), Tokenizer.from_str(other.to_str())):
        assert json.loads(ours.to_str()) == json.loads(other.to_str())
        assert ours.get_added_tokens_decoder() == other.get_added_tokens_decoder()
        assert ours.get_vocab_size(False) == other.get_vocab_size(False)
        for text in ("hello the<later>quick brown fox", "x", ""):
            assert view(ours.encode(text, "and more")) == view(other.encode(text, "and more"))


def test_encodings_alone(pair: tuple[Any, Tokenizer]) -> None:
    other, ours = (tokenizer.encode(f"the quick brown{EOT} fox") for tokenizer in pair)
    for change in (
        lambda e: e.pad(20, direction="left", pad_id=7, pad_type_id=1, pad_token="<p>"),
        lambda e: e.truncate(13, stride=3, direction="left"),
        lambda e: e.pad(15),
        lambda e: e.set_sequence_id(1),
        lambda e: e.truncate(4, direction="right"),
        lambda e: e.truncate(0),
    ):
        change(other)
        change(ours)
        assert view(other) == view(ours)
    merged = Encoding.merge([pair[1].encode("a"), pair[1].encode("b c")], growing_offsets=False)
    kind = tokenizers_module().Encoding
    assert view(merged) == view(kind.merge([pair[0].encode("a"), pair[0].encode("b c")], growing_offsets=False))
    with pytest.raises(ValueError, match="stride"):
        pair[1].encode("the quick brown fox").truncate(2, stride=2)
    with pytest.raises(ValueError, match="Unknown `direction`: `up`"):
        ours.pad(30, direction="up")
    for name in ("ids", "tokens", "offsets", "overflowing"):
        getattr(merged, name).clear()  # a copy
        assert len(merged.ids) == 4


def test_wrong_arguments(pair: tuple[Any, Tokenizer]) -> None:
    for tokenizer in pair:
        for call in (
            lambda t: t.encode(5),
            lambda t: t.encode(["a"]),
            lambda t: t.encode("a", is_pretokenized=True),
            lambda t: t.encode([5], is_pretokenized=True),
            lambda t: t.encode_batch("abc"),
            lambda t: t.encode_batch([("a", "b", "c")]),
            lambda t: t.encode_batch([None]),
        ):
            with pytest.raises(TypeError):
                call(tokenizer)
        for call in (
            lambda t: t.enable_truncation(3, strategy="x"),
            lambda t: t.enable_truncation(3, direction="x"),
            lambda t: t.enable_padding(direction="x"),
        ):
            with pytest.raises(ValueError, match="Unknown `"):
                call(tokenizer)
    ours = pair[1]
    with pytest.raises(ValueError, match="lone surrogate"):
        ours.encode("\ud800")
    with pytest.raises(TypeError, match=r"expected a toksmith\.Tokenizer"):
        Tokenizer("x")  # type: ignore[arg-type]


def test_copies_and_pickles(pair: tuple[Any, Tokenizer]) -> None:
    ours = pair[1]
    ours.enable_padding(length=9)
    ours.post_processor = processors()[1]
    expected = view(ours.encode("the fox"))
    for other in (copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        assert view(other.encode("the fox")) == expected
        other.no_padding()
        other.add_tokens(["<n>"])
        assert view(ours.encode("the fox")) == expected
        assert ours.token_to_id("<n>") is None


def test_every_public_name_is_known() -> None:
    names = {name for name in dir(tokenizers_module().Tokenizer) if not name.startswith("_")}
    ours = Tokenizer(Core())
    assert {name for name in names if not hasattr(ours, name)} == set()
    assert {name for name in dir(tokenizers_module().Encoding) if not name.startswith("_")} <= set(dir(Encoding))


def test_named_patterns_are_all_here() -> None:
    assert all(Tokenizer(Core(pattern=name)).encode("a b").ids == [97, 32, 98] for name in patterns.NAMED)


def test_added_tokens_of_an_empty_model() -> None:
    from tokenizers import AddedToken
    from tokenizers.models import BPE

    module = tokenizers_module()

    def answers(tokenizer: Any, added_token: Any) -> list[Any]:
        counts = [tokenizer.add_tokens([]), tokenizer.add_tokens(["my", "", "my", added_token("na", lstrip=True)])]
        counts.append(tokenizer.add_special_tokens(["[x]"]))
        encoding = tokenizer.encode("my  na [x] z my")
        copied = pickle.loads(pickle.dumps(tokenizer))
        tokenizer.normalizer = module.normalizers.Lowercase()
        return [
            *(
                counts,
                encoding.ids,
                encoding.tokens,
                encoding.offsets,
                tokenizer.encode("").ids,
                tokenizer.get_vocab(),
            ),
            *(tokenizer.get_vocab_size(), tokenizer.get_vocab_size(False), tokenizer.token_to_id("na")),
            *(
                tokenizer.id_to_token(2),
                tokenizer.decode([0, 1, 2]),
                tokenizer.decode([2], skip_special_tokens=False),
            ),
            *(copied.encode("my").ids, type(tokenizer).from_str(tokenizer.to_str()).encode("MY na").ids),
        ]

    ours, theirs = Tokenizer(BPE()), module.Tokenizer(module.models.BPE())
    assert answers(ours, AddedToken) == answers(theirs, module.AddedToken)
    assert Tokenizer(BPE()).add_tokens(["my"]) == 1


def test_a_copy_of_a_decode_stream_is_independent(pair: tuple[Any, Tokenizer]) -> None:
    from toksmith.compat.huggingface import DecodeStream

    _, ours = pair
    ids = ours.encode("low lower é中 newest").ids
    first, second = DecodeStream(), DecodeStream()
    for id in ids[:3]:
        assert first.step(ours, id) == second.step(ours._original, id)
    copied = copy.copy(first)
    pieces = [[stream.step(ours, id) for stream in (first, copied)] for id in ids[3:]]
    assert pieces == [[second.step(ours, id)] * 2 for id in ids[3:]]
