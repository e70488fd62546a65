"""The script of a character and its kind, by the tables of the `regex` package.

Scripts are Unicode's property Script, for which Python has no tables.
"""

from __future__ import annotations

import regex

_NAMES = """
Latin Han Cyrillic Arabic Devanagari Hiragana Katakana Hangul Greek Hebrew Thai Bengali Tamil Telugu Georgian
Armenian Gujarati Gurmukhi Kannada Malayalam Sinhala Oriya Myanmar Khmer Lao Tibetan Ethiopic Thaana Bopomofo Adlam
Balinese Bamum Batak Canadian_Aboriginal Chakma Cham Cherokee Hanifi_Rohingya Javanese Kayah_Li Lepcha Limbu Lisu
Mandaic Meetei_Mayek Miao Mongolian New_Tai_Lue Newa Nko Nyiakeng_Puachue_Hmong Ol_Chiki Osage Saurashtra Sundanese
Syloti_Nagri Syriac Tai_Le Tai_Tham Tai_Viet Tifinagh Vai Wancho Yi Common Inherited
"""
SCRIPTS = tuple(_NAMES.split())
"""The recommended scripts and those of limited use (UAX #31, tables 5 and 7), the frequent ones first."""
OTHER = "Other"
"""The name for all other scripts, and for characters that are not assigned."""


def scripts_of(characters: str) -> dict[str, str]:
    """Return the script of each character: its name in Unicode, or "Other" for one that is not among `SCRIPTS`.

    >>> scripts_of("aя日1")
    {'a': 'Latin', '日': 'Han', 'я': 'Cyrillic', '1': 'Common'}
    """
    scripts: dict[str, str] = {}
    for script in SCRIPTS:
        if members := "".join(regex.findall(rf"\p{{Script={script}}}+", characters)):
            scripts |= dict.fromkeys(members, script)
    return scripts | dict.fromkeys(set(characters) - scripts.keys(), OTHER)


KINDS = ("letters", "digits", "punctuation", "whitespace", "mixed", "other", "partial")
"""The kinds of tokens: see `inspection.results.Contents`."""

# From a kind to its set of characters. The first set that a character is in decides.
_CLASSES = {
    "whitespace": r"\s",
    "letters": r"[\p{L}\p{M}]",
    "digits": r"\p{N}",
    "punctuation": r"[\p{P}\p{S}]",
    "other": r"(?s:.)",
}


def kinds_of(characters: str) -> dict[str, str]:
    """Return the kind of each character.

    >>> kinds_of("a1! ")
    {'a': 'letters', '1': 'digits', '!': 'punctuation', ' ': 'whitespace'}
    """
    kinds: dict[str, str] = {}
    for kind, pattern in reversed(_CLASSES.items()):
        kinds |= dict.fromkeys(regex.findall(pattern, characters), kind)
    return kinds
