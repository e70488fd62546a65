"""Scripts and classes of characters, by the tables of the `regex` package: Python's own have no scripts."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

KINDS = ("letters", "digits", "punctuation", "whitespace", "mixed", "other", "partial")
"""What a token can be made of: see `report.Contents`."""

# Each class with its set; a character is of the first that it is in.
_CLASSES = {
    "whitespace": r"\s",
    "letters": r"[\p{L}\p{M}]",
    "digits": r"\p{N}",
    "punctuation": r"[\p{P}\p{S}]",
    "other": r"(?s:.)",
}

_NAMES = """
Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak Bengali Beria_Erfe
Bhaiksuki Bopomofo Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham
Cherokee Chorasmian Common Coptic Cuneiform Cypriot Cypro_Minoan Cyrillic Deseret Devanagari Dives_Akuru Dogra
Duployan Egyptian_Hieroglyphs Elbasan Elymaic Ethiopic Garay Georgian Glagolitic Gothic Grantha Greek Gujarati
Gunjala_Gondi Gurmukhi Gurung_Khema Han Hangul Hanifi_Rohingya Hanunoo Hatran Hebrew Hiragana Imperial_Aramaic
Inherited Inscriptional_Pahlavi Inscriptional_Parthian Javanese Jurchen Kaithi Kannada Katakana Kawi Kayah_Li
Kharoshthi Khitan_Small_Script Khmer Khojki Khudawadi Kirat_Rai Lao Latin Lepcha Limbu Linear_A Linear_B Lisu
Lycian Lydian Mahajani Makasar Malayalam Mandaic Manichaean Marchen Masaram_Gondi Medefaidrin Meetei_Mayek
Mende_Kikakui Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi Mongolian Mro Multani Myanmar Nabataean
Nag_Mundari Nandinagari New_Tai_Lue Newa Nko Nushu Nyiakeng_Puachue_Hmong Ogham Ol_Chiki Ol_Onal Old_Hungarian
Old_Italic Old_North_Arabian Old_Permic Old_Persian Old_Sogdian Old_South_Arabian Old_Turkic Old_Uyghur Oriya
Osage Osmanya Pahawh_Hmong Palmyrene Pau_Cin_Hau Phags_Pa Phoenician Proto_Cuneiform Psalter_Pahlavi Rejang
Runic Samaritan Saurashtra Seal Sharada Shavian Siddham Sidetic SignWriting Sinhala Sogdian Sora_Sompeng Soyombo
Sundanese Sunuwar Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Tai_Yo Takri Tamil Tangsa Tangut
Telugu Thaana Thai Tibetan Tifinagh Tirhuta Todhri Tolong_Siki Toto Tulu_Tigalari Ugaritic Vai Vithkuqi Wancho
Warang_Citi Yezidi Yi Zanabazar_Square
"""
SCRIPTS = tuple(_NAMES.split())
"""The scripts of Unicode 18. What is of none of them, or not known to the installed `regex`, is "Unknown"."""


def scripts(texts: Iterable[str]) -> dict[str, str]:
    """Return the script of each character of some texts.

    >>> [scripts(["aя日1"])[character] for character in "aя日1"]
    ['Latin', 'Cyrillic', 'Han', 'Common']
    """
    characters = _characters(texts)
    found = dict.fromkeys(characters, "Unknown")
    for script in SCRIPTS:
        found |= dict.fromkeys(_matching(rf"\p{{Script={script}}}", characters), script)
    return found


def classes(texts: Iterable[str]) -> dict[str, str]:
    """Return the kind of each character of some texts.

    >>> [classes(["a1! "])[character] for character in "a1! "]
    ['letters', 'digits', 'punctuation', 'whitespace']
    """
    characters = _characters(texts)
    found: dict[str, str] = {}
    for kind, source in reversed(_CLASSES.items()):
        found |= dict.fromkeys(_matching(source, characters), kind)
    return found


def _characters(texts: Iterable[str]) -> str:
    return "".join(set(itertools.chain.from_iterable(texts)))


def _matching(source: str, characters: str) -> str:
    import regex

    try:
        return "".join(regex.compile(source, cache_pattern=False).findall(characters))
    except regex.error:  # a script that the installed `regex` does not know yet
        return ""
