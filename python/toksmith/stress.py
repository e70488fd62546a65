"""A text that finds differences between tokenizers: for verification where nobody gives files."""

from __future__ import annotations

import random
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PROSE = (
    "The quick brown fox, the lazy dog: they're here, aren't they? We'll see; I'd say so. IT'S DON'T I'VE YOU'RE\n\n"
    "    def f(x):\n        return x + 1234567890  # twice\r\n\t\nif (a[0] != b->c) { return *p++; } // über\n"
    "Žluťoučký kůň úpěl ďábelské ódy. Größe, straße, naïve; 12 345,67 €; 3×10⁻⁵ m²; Ⅷ, ½, ٣٤٥. ’s ’t ſ's\n"
    "我能吞下玻璃而不伤身体。私はガラスを食べられます。それは私を傷つけません。나는 유리를 먹을 수 있어요.\n"
    "நான் கண்ணாடி சாப்பிடுவேன். मैं काँच खा सकता हूँ। ฉันกินกระจกได้ אני יכול לאכול זכוכית أنا قادر على أكل الزجاج\n"
    "👍🏽 👩\u200d👩\u200d👧 🇨🇿 a\u0301 e\u0301\u0323 \u200d \ufeff \u00a0\u3000\u2028\u2029\x85\x0b\x0c\x1c\x1f"
    "\x00\x7f\n\ufffd end  \n \n"
)
_WORDS = (
    "the The THE they'd don't 's 'S 'll ' '' a ab aaa hello helloWorld XMLHttp _x 0 12 123 1234 12345678 ² Ⅷ . , ... "
    "!? # // /// \\ $ () [] {} <> <| |> == != -- --- ___ žluť ÅNG 你好 ガラス நடிகர் ไทย नमस्ते שלום 한글 ǅ ʰ ª 👍 🇨🇿 é"
)
_SPACES = [" ", " ", " ", " ", "  ", "   ", "\n", "\n\n", "\r\n", "\r", "\t", " \n ", "\xa0", "\u3000", "\u2028"]
_RUNS = [" ", "\n", "\t", "\r\n", "a", "0", "^", "=", "-", "é", "中", "🙂", "\u0301", "ab", " \n", "'s", ".\n"]


def texts(special_tokens: Iterable[str] = (), *, seed: int = 0) -> Iterator[str]:
    """Yield texts, the same ones for each seed: prose and code of many scripts, runs, random words, characters.

    Args:
        special_tokens: They stand among the random words, whole and cut short.
        seed: For the random ones.
    """
    rng = random.Random(seed)
    yield ""
    yield _PROSE
    yield _PROSE.upper()
    yield _PROSE.replace(" ", "")
    for run in _RUNS:
        for count in (1, 2, 3, 7, 100, 1000):
            yield run * count
            yield f"a{run * count}b"
    names = sorted(special_tokens)[:50]
    words = _WORDS.split() + names + [name[:-1] for name in names if len(name) > 1]
    for _ in range(300):
        yield "".join(rng.choice(words) + (rng.choice(_SPACES) if rng.random() < 0.7 else "") for _ in range(40))
    points = [chr(point) for point in range(0x110000) if unicodedata.category(chr(point)) not in ("Cn", "Cs", "Co")]
    rng.shuffle(points)
    for start in range(0, len(points), 50):
        yield "".join(point + rng.choice(("", "", " ", "a", "\n", "'")) for point in points[start : start + 50])
