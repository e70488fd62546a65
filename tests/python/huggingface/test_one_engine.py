"""The pipeline in the core: texts in parts, files in windows, and streams of ids give what the whole gives."""

import itertools
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import character_cases
import pytest
from huggingface_cases import ADDED, byte_level, make, sequence, text_of
from tokenizers import decoders, normalizers, pre_tokenizers

import toksmith
from toksmith import Tokenizer
from toksmith import tokenizer as tokenizer_module
from toksmith.compat.huggingface import DecodeStream
from toksmith.compat.huggingface import Tokenizer as StandIn

NFC = normalizers.NFC()


def byte_levels() -> dict[str, Any]:
    """Return byte-level tokenizers of `tokenizers` whose texts are normalized."""
    forms = {"nfc": NFC, "nfkc": normalizers.NFKC(), "nfd": normalizers.NFD(), "lower": normalizers.Lowercase()}
    made = {name: make(byte_level(), form, ADDED) for name, form in forms.items()}
    made["prefix"] = make(byte_level(add_prefix_space=True), NFC)
    made["digits"] = make(sequence(pre_tokenizers.Digits(True), byte_level()), NFC, ADDED)
    return made


def all_kinds() -> dict[str, Any]:
    return byte_levels() | {kind: character_cases.make(kind) for kind in character_cases.KINDS}


def words(rng: random.Random, count: int) -> str:
    """Return a text with places to cut, some of which look like one and are none."""
    parts = [
        "the ",
        "low\n",
        "e\u0301 ",
        "\n\u0301x ",
        "é\r\n",
        " 漢字。\n",
        "각 ",
        "\u1112\u1161\u11ab ",
        "a\u00a0 ",
        "[M] ",
    ]
    return "".join(rng.choices(parts, k=count)) + text_of(rng, 5)


@pytest.mark.parametrize("kind", all_kinds())
def test_texts_in_parts_and_files_in_windows(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, rng = Tokenizer.from_huggingface(all_kinds()[kind]), random.Random(kind)
    path = tmp_path / "text.txt"
    for _ in range(40):
        text = words(rng, rng.randrange(40))
        cuts = sorted(rng.choices(range(len(text) + 1), k=5))
        parts = [text[start:end] for start, end in itertools.pairwise([0, *cuts, len(text)])]
        path.write_bytes(text.encode())
        monkeypatch.setattr(tokenizer_module, "WINDOW_BYTES", rng.choice([1, 7, 30]))
        for special in (True, False):
            ids = ours.encode(text, special=special)
            assert list(ours.encode_iterable(parts, special=special)) == ids, (text, parts)
            assert ours.encode_file(path, special=special).tolist() == ids, text
            limit = rng.randrange(1, 9)
            prefix = ours.truncate(text, limit, special=special)
            assert text.startswith(prefix)
            assert ours.count(prefix, special=special) <= limit
        assert ours.encode_parts([(part, True) for part in parts]) == ours.encode(text)
        assert "".join(ours.split(text, 40)) == text


def test_ids_come_before_the_text_ends() -> None:
    ours = Tokenizer.from_huggingface(make(byte_level(), NFC))
    seen = []

    def pieces() -> Iterator[str]:
        for number in range(100):
            seen.append(number)
            yield "cafe\u0301 the low 漢字\n" * 5

    assert next(ours.encode_iterable(pieces())) == ours.encode("c")[0]
    assert len(seen) < 5


@pytest.mark.alone
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_does_not_grow_with_a_file(tmp_path: Path) -> None:
    ours = Tokenizer.from_huggingface(make(byte_level(), NFC))
    ours.save(tmp_path / "tokenizer.json")
    program = (
        "import sys, toksmith; t = toksmith.Tokenizer.load(sys.argv[1]); "
        "t.encode_file(sys.argv[2], sys.argv[2] + '.bin', workers=2); "
        "print(open('/proc/self/status').read().partition('VmHWM:')[2].split()[0])"
    )
    peaks = []
    for megabytes in (16, 64):
        path = tmp_path / f"{megabytes}.txt"
        path.write_text("cafe\u0301 the low 漢字 e\u0327\n" * (megabytes << 15), encoding="utf-8")
        command = [sys.executable, "-c", program, str(tmp_path / "tokenizer.json"), str(path)]
        peaks.append(int(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    assert abs(peaks[1] - peaks[0]) < 12 << 10, peaks


CHAINS = {
    "byte_fallback": [decoders.ByteFallback(), decoders.Metaspace()],
    "fuse": [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 2, 0)],
    "replace_behind_fuse": [decoders.Fuse(), decoders.Replace("\u2581\u2581", "-")],
    "bpe": [decoders.BPEDecoder("\u2581")],
    "word_piece": [decoders.WordPiece("\u2581", True)],
    "ctc": [decoders.CTC("<unk>", "\u2581", True)],
    "byte_level": [decoders.ByteLevel()],
}


@pytest.mark.parametrize("kind", [*all_kinds(), *CHAINS])
def test_streams_of_ids_give_the_text_and_the_pieces_of_the_original(kind: str) -> None:
    theirs = character_cases.make("llama") if kind in CHAINS else all_kinds()[kind]
    if kind in CHAINS:
        theirs.decoder = decoders.Sequence(CHAINS[kind])
    ours, stand_in, rng = Tokenizer.from_huggingface(theirs), StandIn.from_str(theirs.to_str()), random.Random(kind)
    known = [id for id in range(ours.max_id + 1) if theirs.id_to_token(id) is not None]
    for _ in range(150):
        ids = rng.choices(known, k=rng.randrange(12)) + theirs.encode(words(rng, 2), add_special_tokens=False).ids[:6]
        text = theirs.decode(ids, skip_special_tokens=False) if theirs.decoder else ours.decode(ids)
        assert ours.decode(ids) == text, ids
        assert "".join(ours.decode_stream(ids)) == text, ids
        stream = ours.decode_stream(prompt=ids[:3])
        assert text.endswith("".join(map(stream.push, ids[3:])) + stream.flush())
        for skip in (True, False):
            original, here = decoders.DecodeStream(skip_special_tokens=skip), DecodeStream(skip_special_tokens=skip)
            for id in ids:
                try:
                    piece = original.step(theirs, id)
                except Exception:  # the text so far does not begin with the text before
                    with pytest.raises(ValueError, match="Invalid prefix"):
                        here.step(stand_in, id)
                    break
                assert here.step(stand_in, id) == piece, ids


def test_ids_without_a_token_and_special_ones() -> None:
    ours = Tokenizer(special_tokens=["<s>"])
    with pytest.raises(KeyError, match="no token of id 999"):
        list(ours.decode_stream([97, 999]))
    stream = toksmith.DecodeStream(ours, unknown="skip", skip_special=True)
    assert list(stream.pieces([97, 999, 256])) == ["a"]
    with pytest.raises(ValueError, match='unknown is "error" or "skip"'):
        toksmith.DecodeStream(ours, unknown="drop")  # type: ignore[arg-type]
