"""What an inspection shows: every token as it is seen, nothing of it obeyed, and the same data as JSON."""

import dataclasses
import html
import html.parser
import json

import pytest
from own_data import unescaped

import toksmith
from toksmith import Tokenizer
from toksmith.lab.inspection.inspect import Inspection

HOSTILE = [
    b"\x1b[31mred",
    b"<script>alert(1)</script>",
    b"&lt;b&gt;",
    b'"><img src=x>',
    "\u202eabc".encode(),
    b"a\r\nb\tc\x00\x07",
    b"\\x41",
    "\u2028\u200b\ufeff".encode(),
    b"\xe6\x97 \x9b",
    b"A" * 5000,
]


@pytest.fixture(scope="module")
def hostile() -> Inspection:
    vocab = {byte: bytes([byte]) for byte in range(256)} | dict(enumerate(HOSTILE, 256))
    specials = {"<|\x1b]0;x\x07|>": 400, "<b>bold</b>": 401}
    tokenizer = Tokenizer(vocab, None, specials, pattern="\x1b\\[0m|.+", unmatched="drop")
    return toksmith.lab.inspect(
        tokenizer, iter([b"".join(HOSTILE[:4]).decode() + "<b>bold</b>", HOSTILE[2].decode()]), top=40
    )


def test_no_control_character_is_printed(hostile: Inspection) -> None:
    text = str(hostile)
    assert all(line.isprintable() for line in text.split("\n"))
    assert "\\x1b[31mred" in text
    assert "\\u{202e}abc" in text
    assert f"{'A' * 60}… (5,000 bytes)" in text
    assert max(map(len, text.split("\n"))) < 1000


class Reader(html.parser.HTMLParser):
    """Collects the tags and the text of HTML."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_no_token_is_markup(hostile: Inspection) -> None:
    drawn = hostile._repr_html_()
    reader = Reader()
    reader.feed(drawn)
    assert reader.tags == {"pre"}
    assert reader.attributes == set()
    assert not reader.open
    assert "".join(reader.text) == str(hostile)
    assert all(one.isprintable() for one in drawn.split("\n"))


def test_json_has_every_field(hostile: Inspection) -> None:
    content = json.loads(json.dumps(hostile.to_dict()))
    assert content == hostile.to_dict()
    assert set(content) == {field.name for field in dataclasses.fields(hostile)}
    names = {unescaped(one["token"]) for one in content["special"]}
    assert names == {b"<|\x1b]0;x\x07|>", b"<b>bold</b>"}
    assert {"counts", "applied"} & set(content["usage"]) == set()
    assert content["usage"]["documents"] == 2


def test_an_inspection_is_frozen(hostile: Inspection) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        hostile.usage = None  # type: ignore[misc]


def test_the_vocabulary_comes_before_the_texts() -> None:
    lines = str(toksmith.lab.inspect(Tokenizer(), iter(["a b"]))).splitlines()
    groups = [line.partition(":")[0] for line in lines if line[:1] not in ("", " ")]
    assert groups == ["Vocabulary"] * 5 + ["Texts"]


def test_without_texts_and_without_examples() -> None:
    found = toksmith.lab.inspect(Tokenizer(), top=0)
    assert found.usage is None
    assert "Texts: " not in str(found)
    assert "usage" in found.to_dict()
    assert found == toksmith.lab.inspect(Tokenizer(), top=0)
