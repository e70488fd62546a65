"""What tokens are for display: marks that can be read back, HTML that no text gets out of, views of a tokenizer."""

import html.parser
import itertools
import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import toksmith
from toksmith.lab import spans, terminal
from toksmith.lab import view as viewing

SPECIAL = "<|end|>"
HOSTILE = '<script>alert("x")</script> &amp; \'"><b onclick=x> \x1b[31m \u202eabc\u2066 -->]]> </style>'

bare = toksmith.Tokenizer(special_tokens=[SPECIAL])
trained = toksmith.train(
    iter(["the lowest 日本 é नमस्ते <script>\n\n</script> of the low" * 3]), 294, special_tokens=[SPECIAL]
)


def read_back(word: str) -> bytes:
    """Return the bytes behind the marks of a word, by one regular expression."""
    named = {"n": b"\n", "r": b"\r", "t": b"\t", "\\": b"\\"}

    def one(found: re.Match[str]) -> bytes:
        if found[1]:
            return bytes([int(found[1], 16)])
        if found[2]:
            return chr(int(found[2], 16)).encode()
        return named[found[3]] if found[3] else {"␣": b" ", "◌": b""}.get(found[0], found[0].encode())

    pattern = r"\\x([0-9a-f]{2})|\\u\{([0-9a-f]+)\}|\\([nrt\\])|."
    return b"".join(one(found) for found in re.finditer(pattern, word, re.DOTALL))


@given(st.one_of(st.binary(max_size=12), st.text(max_size=12).map(str.encode)))
@example("\u0301a".encode())
@example(b"\\xff\xff\\")
@example("\ufe0f\u3164\u2800\U000e0100\u00ad\u200b\u202e".encode())
def test_marks_can_be_read_back(token: bytes) -> None:
    """But for the signs that stand for a space and a place, which a text can have too."""
    word = spans.shown(token)
    assert not re.search(r"\s", word)
    assert all(character.isprintable() for character in word)
    if not set(token.decode(errors="replace")) & set("␣◌"):
        assert read_back(word) == token
        assert read_back(spans.shown(token, " ")) == token
    parts = spans.marked(token)
    assert "".join(text for text, _ in parts) == spans.shown(token, " ")
    assert all(left[1] != right[1] for left, right in itertools.pairwise(parts))


def test_every_character_can_be_seen() -> None:
    """Of all there are, none is shown that is a control, a format, a space, or a variation selector."""
    hidden = set("\u034f\u115f\u1160\u2800\u3164\uffa0") | {chr(point) for point in range(0xFE00, 0xFE10)}
    kept = [character for character in map(chr, range(0x110000)) if spans.visible(character) == character]
    assert not hidden & set(kept)
    assert {unicodedata.category(one) for one in kept if one != " "}.isdisjoint({"Cc", "Cf", "Cs", "Zl", "Zp", "Zs"})
    assert len(kept) > 140_000


def test_a_combining_character_stands_on_a_circle() -> None:
    assert spans.shown("\u0301a\u0301".encode()) == "◌\u0301a\u0301"


def test_ids_without_a_token() -> None:
    assert spans.of_ids(bare, [256]) == [(256, SPECIAL.encode(), SPECIAL, True, False)]
    with pytest.raises(KeyError):
        spans.of_ids(bare, [999])


class Parser(html.parser.HTMLParser):
    """Collects the text and the tags of HTML as a browser reads it."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data


def parsed(source: str) -> Parser:
    parser = Parser()
    parser.feed(source)
    parser.close()
    assert parser.open == []
    return parser


@given(st.one_of(st.text(max_size=40), st.sampled_from([HOSTILE, SPECIAL, "\n\n", ""])))
def test_no_text_gets_out_of_its_html(text: str) -> None:
    for tokenizer in (bare, trained):
        found = spans.of_ids(tokenizer, tokenizer.encode(text))
        read = parsed(viewing.tokens(found))
        assert read.text == "".join(spans.shown(span.token, " ") for span in found)
        assert {tag for tag, _ in read.tags} <= {"div", "span", "i", "br"}
        boxes = [attributes for tag, attributes in read.tags if tag == "span"]
        assert len(boxes) == len(found)
        for number, (box, span) in enumerate(zip(boxes, found, strict=True)):
            assert box.keys() == {"class", "title"}
            first, *rest = str(box["class"]).split()
            assert first == ("special" if span.special else "ab"[number % 2])
            assert rest == (["partial"] if span.partial else [])
            assert str(box["title"]).startswith(f"id {span.id}, ")
            assert span.token.hex(" ") in str(box["title"])
        ids = parsed(viewing.tokens(found, ids=True))
        assert ids.text == "".join(spans.shown(span.token) + str(span.id) for span in found)


def test_a_title_says_id_and_bytes() -> None:
    shown = viewing.tokens(spans.of_ids(bare, bare.encode("é" + SPECIAL)))
    assert 'title="id 195, byte c3"' in shown
    assert "special token" in shown
    long = toksmith.train(iter(["=" * 500]), 263)
    assert viewing.tokens(spans.of_ids(long, long.encode("=" * 128))).count("3d") <= 64


# Views


def test_a_view_in_a_notebook_and_in_print() -> None:
    text = f"the low{HOSTILE}{SPECIAL}"
    view = toksmith.view(trained, text)
    assert view.ids == trained.encode(text)
    assert str(view) == repr(view)
    shown = view._repr_html_()
    read = parsed(shown)
    counts = str(view).splitlines()[-1]
    tokens, size = len(view.ids), len(text.encode())
    assert counts == f"{tokens} tokens, {size} bytes, {size / tokens:.2f} bytes per token"
    assert read.text.endswith(counts)
    assert shown.count("<style>") == shown.count("</style>") == 1
    assert toksmith.view(trained, text, special=False).ids == trained.encode(text, special=False)
    assert "⟦" not in str(toksmith.view(trained, text, special=False))


def test_a_view_draws_the_first_and_counts_all() -> None:
    view = toksmith.view(bare, "x" * 3000)
    assert str(view).count("x") == 2000
    assert "… and 1,000 more tokens\n3,000 tokens, 3,000 bytes" in str(view)
    assert view._repr_html_().count(">x<") == len(view.spans) == 2000
    few = toksmith.view(bare, "x" * 3000, limit=2, ids=True)
    assert str(few) == "x  │x\n120│120\n… and 2,998 more tokens\n3,000 tokens, 3,000 bytes, 1.00 bytes per token"
    assert "… and 2,998 more tokens" in few._repr_html_()
    with pytest.raises(ValueError, match="limit is at least 0, not -1"):
        toksmith.view(bare, "x", limit=-1)
    with pytest.raises(ValueError, match="surrogate"):
        toksmith.view(bare, "\ud800")


def test_a_tokenizer_with_a_pipeline() -> None:
    """Tokens that were added as ordinary ones are not marked; what a normalizer leaves out is in no token."""
    pytest.importorskip("tokenizers")
    from huggingface_cases import ADDED, make
    from tokenizers import normalizers

    tokenizer = toksmith.Tokenizer.from_huggingface(make(normalizer=normalizers.Lowercase(), added=ADDED))
    text = "The King [M] is <s>SO<|end|> É"
    for special in (True, False):
        view = toksmith.view(tokenizer, text, special=special)
        assert view.ids == tokenizer.encode(text, special=special)
        assert b"".join(span.token for span in view.spans) == tokenizer.decode_bytes(view.ids)
        marked = [span.text for span in view.spans if span.special]
        assert marked == (["[M]", "<s>", "<|end|>"] if special else [])
        assert [span.text for span in view.spans][:2] == ["the␣", "king"]


def test_what_is_drawn_is_made_once() -> None:
    looked_up = []

    class Spans(spans.Spans):
        def __getitem__(self, id: int) -> spans.Span:
            looked_up.append(id)
            return super().__getitem__(id)

    assert "".join(terminal.lines(Spans(toksmith.Tokenizer()), [97, 98, 97, 97])) == "a\nb\na\na\n"
    assert looked_up == [97, 98]
