"""Texts that are likely to show a difference between two tokenizers: scripts, whitespace, runs, every character."""

import random
import unicodedata
from collections.abc import Iterable, Iterator

PROSE = """The quick brown fox, the lazy dog: they're here, AREN'T THEY? We'll see; I'd say it's so. x'y don''t 'S
Žluťoučký kůň úpěl ďábelské ódy; STRAẞE, straße, ǅ ʰ ª Ⅷ ½ x² İstanbul ſ ﬁ. Ξεσκεπάζω. Съешь же ещё. Փոքր. საქართველო
שלום עולם. مرحبا ١٢٣. नमस्ते १२३. வணக்கம் நடிகர். สวัสดี. ខ្ញុំ. ລາວ. မြန်မာ. བོད. አማርኛ. 我能吞下玻璃而不伤身体。
私はガラスを食べられます、カタカナ。
나는 유리를 먹을 수 있어요.
👍🏽 🇨🇿 👩‍👩‍👧‍👦 ☃️
a\u0301e\u0323\u0302 \ufeff\u200b\u200d\ufffd \U00010400 'Ve 'LL 'ſ
0 12 123 1234 1234567890 3.14159 1,000,000 0x1F 1e-9 ٣٤ Ⅳ ² $5 €10 #1 @a a_b a-b a/b C:\\x ...
!!! --- ==== ^^^^ ()[]
def f(x):\r\n\treturn {"a": [x**2 for x in range(10)]}  # twice\r\n\r\n\n
    while(true){i++;}//end\\n</html>\x00\x1c\x7f\x1b
"""
"""Prose of many scripts, code, and the contractions, numbers and marks that rules of patterns treat differently."""

SPACES = (" |  |   |\n|\n\n| \n|\n |\r\n|\r\n\r\n |\t| \t|\xa0|\u3000|\u2028|\x85|" + " " * 17 + "|").split("|")
"""Whitespace of many kinds, and none."""

_WORDS = (
    "the The THE they'd don't 's 'S 'll ' '' a ab aaa hello helloWorld XMLHttp _x 0 12 123 1234 12345678 ² Ⅷ . , ... "
    "!? # // /// \\ $ () [] {} <> <| |> == != -- --- ___ žluť ÅNG 你好 ガラス நடிகர் ไทย नमस्ते שלום 한글 ǅ ʰ ª 👍 🇨🇿 é"
)
_RUNS = [" ", "\n", "\t", "\r\n", "a", "0", "^", "=", "-", "é", "中", "🙂", "\u0301", "ab", " \n", "'s", ".\n"]


def texts(special_tokens: Iterable[str]) -> Iterator[str]:
    """Yield texts, the same ones each time: prose and code of many scripts, runs, random words, characters."""
    rng = random.Random(0)
    yield ""
    yield PROSE
    yield PROSE.upper()
    yield PROSE.replace(" ", "")
    for run in _RUNS:
        for count in (1, 2, 3, 7, 100, 1000):
            yield run * count
            yield f"a{run * count}b"
    names = sorted(special_tokens)[:50]
    words = _WORDS.split() + names + [name[:-1] for name in names if len(name) > 1]
    for _ in range(300):
        yield "".join(rng.choice(words) + (rng.choice(SPACES) if rng.random() < 0.7 else "") for _ in range(40))
    points = [chr(point) for point in range(0x110000) if unicodedata.category(chr(point)) not in ("Cn", "Cs", "Co")]
    rng.shuffle(points)
    for start in range(0, len(points), 50):
        yield "".join(point + rng.choice(("", "", " ", "a", "\n", "'")) for point in points[start : start + 50])
