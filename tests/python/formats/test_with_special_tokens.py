"""`Tokenizer.with_special_tokens`: ids above all others, between others, and clashes."""

from pathlib import Path

import pytest
import tokenizers

import toksmith
from toksmith import Tokenizer

END = "<|end|>"
TEXT = "low lower <|im_start|>newest<|end|> über 日本<|im_end|>"


@pytest.fixture(scope="module")
def trained() -> Tokenizer:
    return toksmith.train(iter(["low lower newest widest über 日本 " * 9]), 280, special_tokens=[END])


@pytest.fixture(scope="module")
def ranks(trained: Tokenizer) -> Tokenizer:
    vocab = {id + (1000 if id >= 256 else 0): token for id, token in trained.vocab.items() if token != END.encode()}
    return Tokenizer(vocab, None, {END: 2000})


def by_hand(tokenizer: Tokenizer, more: dict[str, int]) -> Tokenizer:
    vocab = {**tokenizer.vocab, **{id: name.encode() for name, id in more.items()}}
    merges = list(tokenizer.merges) if tokenizer._core.has_merges() else None
    return Tokenizer(vocab, merges, {**tokenizer.special_tokens, **more})


@pytest.mark.parametrize("kind", ["trained", "ranks"])
@pytest.mark.parametrize("ids", [(5000, 4000), (900, 5000), (901, 900)])
def test_ids_are_those_of_a_tokenizer_made_by_hand(
    kind: str, ids: tuple[int, int], request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    tokenizer: Tokenizer = request.getfixturevalue(kind)
    more = dict(zip(("<|im_start|>", "<|im_end|>"), ids, strict=True))
    extended = tokenizer.with_special_tokens(more)
    assert extended == by_hand(tokenizer, more)
    assert extended.encode(TEXT) == by_hand(tokenizer, more).encode(TEXT)
    assert extended.decode(extended.encode(TEXT)) == TEXT
    assert extended.special_tokens == {**tokenizer.special_tokens, **more}
    extended.save(tmp_path / "own.json")
    assert Tokenizer.load(tmp_path / "own.json") == extended
    extended.save_huggingface(tmp_path / "hf")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "hf" / "tokenizer.json"))
    assert theirs.encode(TEXT, add_special_tokens=False).ids == extended.encode(TEXT)
    assert Tokenizer.from_pretrained(tmp_path / "hf").encode(TEXT) == extended.encode(TEXT)


def test_a_tokenizer_with_a_template_keeps_it(trained: Tokenizer, tmp_path: Path) -> None:
    trained.save_huggingface(tmp_path / "hf")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "hf" / "tokenizer.json"))
    theirs.normalizer = tokenizers.normalizers.Lowercase()
    theirs.post_processor = tokenizers.processors.TemplateProcessing(
        single=f"$A {END}", special_tokens=[(END, trained.special_tokens[END])]
    )
    ours = Tokenizer.from_pretrained(theirs)
    for id in (900, 5000):
        extended = ours.with_special_tokens({"<|X|>": id})
        assert extended.encode("LOW<|X|>") == [*trained.encode("low"), id]
        assert extended.pipeline is not None
        assert extended.pipeline.template is not None
        assert extended.pipeline.template.ids([1]) == [1, trained.special_tokens[END]]


def test_clashes_are_errors(trained: Tokenizer) -> None:
    end = trained.special_tokens[END]
    assert trained.with_special_tokens({END: end}) == trained
    with pytest.raises(ValueError, match=r"is that of b.a.: choose another id"):
        trained.with_special_tokens({"<|x|>": trained.token_id("a")})
    with pytest.raises(ValueError, match=f"has a token of this text, id {end}"):
        trained.with_special_tokens({END: 900})
    with pytest.raises(ValueError, match="has a token of this text, id"):
        trained.with_special_tokens({"a": 900})
    with pytest.raises(ValueError, match='id 900 is that of b"<|x|>"'.replace("|", r"\|")):
        trained.with_special_tokens({"<|x|>": 900, "<|y|>": 900})
    with pytest.raises(ValueError, match="ids are whole numbers"):
        trained.with_special_tokens({"<|x|>": -1})
    with pytest.raises(TypeError, match="a mapping from names to ids"):
        trained.with_special_tokens(["<|x|>"])  # type: ignore[arg-type]
