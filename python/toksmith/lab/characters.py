"""The script of a character and its kind, by the tables of the `regex` package.

Scripts are Unicode's property Script, for which Python has no tables.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable

import regex

_WIDELY_USED = """
Latin Han Cyrillic Arabic Devanagari Hiragana Katakana Hangul Greek Hebrew Thai Bengali Tamil Telugu Georgian
Armenian Gujarati Gurmukhi Kannada Malayalam Sinhala Oriya Myanmar Khmer Lao Tibetan Ethiopic Thaana Bopomofo Adlam
Balinese Bamum Batak Canadian_Aboriginal Chakma Cham Cherokee Hanifi_Rohingya Javanese Kayah_Li Lepcha Limbu Lisu
Mandaic Meetei_Mayek Miao Mongolian New_Tai_Lue Newa Nko Nyiakeng_Puachue_Hmong Ol_Chiki Osage Saurashtra Sundanese
Syloti_Nagri Syriac Tai_Le Tai_Tham Tai_Viet Tifinagh Vai Wancho Yi
"""
_OTHERS = """
Ahom Anatolian_Hieroglyphs Avestan Bassa_Vah Beria_Erfe Bhaiksuki Brahmi Braille Buginese Buhid Carian
Caucasian_Albanian Chorasmian Coptic Cuneiform Cypriot Cypro_Minoan Deseret Dives_Akuru Dogra Duployan
Egyptian_Hieroglyphs Elbasan Elymaic Garay Glagolitic Gothic Grantha Gunjala_Gondi Gurung_Khema Hanunoo Hatran
Imperial_Aramaic Inscriptional_Pahlavi Inscriptional_Parthian Jurchen Kaithi Kawi Kharoshthi Khitan_Small_Script
Khojki Khudawadi Kirat_Rai Linear_A Linear_B Lycian Lydian Mahajani Makasar Manichaean Marchen Masaram_Gondi
Medefaidrin Mende_Kikakui Meroitic_Cursive Meroitic_Hieroglyphs Modi Mro Multani Nabataean Nag_Mundari Nandinagari
Nushu Ogham Ol_Onal Old_Hungarian Old_Italic Old_North_Arabian Old_Permic Old_Persian Old_Sogdian Old_South_Arabian
Old_Turkic Old_Uyghur Osmanya Pahawh_Hmong Palmyrene Pau_Cin_Hau Phags_Pa Phoenician Proto_Cuneiform Psalter_Pahlavi
Rejang Runic Samaritan Seal Sharada Shavian Siddham Sidetic SignWriting Sogdian Sora_Sompeng Soyombo Sunuwar Tagalog
Tagbanwa Tai_Yo Takri Tangsa Tangut Tirhuta Todhri Tolong_Siki Toto Tulu_Tigalari Ugaritic Vithkuqi Warang_Citi
Yezidi Zanabazar_Square
"""
WIDELY_USED = tuple(_WIDELY_USED.split())
"""The recommended scripts and those of limited use (UAX #31, tables 5 and 7), the frequent ones first."""
NO_SCRIPT = ("Common", "Inherited", "Unknown")
"""Values of characters that belong to no single script: characters of many scripts, marks, and unassigned ones."""
SCRIPTS = (*WIDELY_USED, *NO_SCRIPT[:2], *_OTHERS.split())
"""The scripts of Unicode 18, in the order in which they are looked for. Other characters are "Unknown"."""


def scripts_of(characters: str) -> dict[str, str]:
    """Return the script of each character, by its name in Unicode.

    Cost: a search in `characters` for each script, until none is left; give each character once. The patterns of all
    scripts take half a second, once in a process.

    >>> scripts_of("aя日1")
    {'a': 'Latin', '日': 'Han', 'я': 'Cyrillic', '1': 'Common'}
    """
    scripts: dict[str, str] = {}
    for script in SCRIPTS:
        if not characters:
            break
        pattern = _pattern(script)
        if pattern is not None and (members := "".join(pattern.findall(characters))):
            scripts |= dict.fromkeys(members, script)
            characters = pattern.sub("", characters)
    return scripts | dict.fromkeys(characters, "Unknown")


@functools.cache
def _pattern(script: str) -> regex.Pattern[str] | None:
    """Return the pattern of characters of a script; None for a script that the installed `regex` lacks."""
    try:
        return regex.compile(rf"\p{{Script={script}}}+", cache_pattern=False)
    except regex.error:
        return None


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


def distinct(texts: Iterable[str]) -> str:
    """Return each character of some texts once."""
    return "".join(set(itertools.chain.from_iterable(texts)))
