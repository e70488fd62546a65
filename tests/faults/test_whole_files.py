"""Files written whole: permissions, links, several writers at once, and systems that lack what Linux has."""

import errno
import functools
import os
import stat
import sys
import threading
from pathlib import Path

import pytest
from child import run
from watching import names

from toksmith import PretokenCounts, Tokenizer
from toksmith.files import new_file, whole_files

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="permissions and links as POSIX has them")


@pytest.fixture(params=["nameless", "named", "copied"])
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """One with files without a name, one without, and one that refuses to give them a name later."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    if request.param != "nameless":
        monkeypatch.setattr(new_file.NewFile, "_without_name" if request.param == "named" else "_link", refuse)
        if request.param == "named":
            monkeypatch.setattr(new_file.NewFile, "_without_name", lambda *_: None)
    return str(request.param)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@posix_only
@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_a_new_file_has_the_usual_permissions_and_a_replaced_one_those_of_the_old(
    mask: int, system: str, tmp_path: Path
) -> None:
    before = os.umask(mask)
    try:
        whole_files.write(tmp_path / "new", [b"new"])
        (tmp_path / "usual").write_bytes(b"")
    finally:
        os.umask(before)
    assert mode(tmp_path / "new") == mode(tmp_path / "usual")
    for bits in (0o600, 0o640, 0o666, 0o444):
        (tmp_path / "new").chmod(bits)
        whole_files.write(tmp_path / "new", [b"newer"])
        assert mode(tmp_path / "new") == bits
        with whole_files.replacing(tmp_path / "new") as path:
            path.write_bytes(b"newest")
        assert mode(tmp_path / "new") == bits
    assert names(tmp_path) == ["new", "usual"]


@posix_only
def test_the_new_file_of_a_private_one_is_private_from_the_start(system: str, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"old")
    (tmp_path / "secret").chmod(0o600)
    with whole_files.replacing(tmp_path / "secret") as path:
        assert mode(path) == 0o600


def test_of_many_writers_at_once_one_wins_and_readers_see_whole_files(system: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    contents = {bytes([65 + number]) * 50_000 for number in range(6)}

    def write(content: bytes) -> None:
        for _ in range(20):
            whole_files.write(path, [content[:100], content[100:]])

    threads = [threading.Thread(target=write, args=[content]) for content in contents]
    whole_files.write(path, [next(iter(contents))])
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert path.read_bytes() in contents
    for thread in threads:
        thread.join()
    assert path.read_bytes() in contents
    assert names(tmp_path) == ["file"]


def test_of_many_that_create_a_file_one_does(system: str, tmp_path: Path) -> None:
    made: list[int] = []

    def create(number: int) -> None:
        try:
            whole_files.create(tmp_path / "file", [str(number).encode()])
            made.append(number)
        except FileExistsError:
            pass

    threads = [threading.Thread(target=create, args=[number]) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [str(number) for number in made] == [(tmp_path / "file").read_text()]
    assert names(tmp_path) == ["file"]


@posix_only
def test_links_are_followed_and_a_circle_is_an_error(system: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder/target")
    for content in (b"one", b"two"):
        whole_files.write(tmp_path / "link", [content])
        assert (tmp_path / "folder" / "target").read_bytes() == content
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    for save in (
        Tokenizer().save,
        functools.partial(Tokenizer().save, format="tiktoken"),
        PretokenCounts({b"a": 1}).save,
    ):
        with pytest.raises(OSError, match="symbolic links") as raised:
            save(tmp_path / "a")
        assert raised.value.errno == errno.ELOOP
    assert names(tmp_path) == ["a", "b", "folder", "folder/target", "link"]


@posix_only
def test_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    program = """
import os, sys
from toksmith import PretokenCounts, Tokenizer
os.mkdir("closed", 0o555)
open("text", "w").close()
tokenizer = Tokenizer()
tokenizer.save("open", format="gpt2")
tokenizer.save("open/tokenizer")
PretokenCounts({b"a": 1}).save("open/counts")
tokenizer.encode_file("text", "open/ids")
limit()  # makes root an ordinary user
for call in (
    lambda: tokenizer.save("closed/file"),
    lambda: tokenizer.save("closed/folder", format="gpt2"),
    lambda: PretokenCounts({b"a": 1}).save("closed/file"),
    lambda: tokenizer.encode_file("text", "closed/file"),
):
    try:
        call()
    except PermissionError as error:
        print(os.path.relpath(error.filename))
"""
    from child import Limits

    tmp_path.chmod(0o755)
    for parent in tmp_path.parents[:2]:
        parent.chmod(0o755)
    outcome = run(program, cwd=tmp_path, limits=Limits(threads=50))
    assert outcome.out.split() == ["closed/file", "closed/folder", "closed/file", "closed/file"], outcome.told
    assert list((tmp_path / "closed").iterdir()) == []


def test_a_file_of_another_program_is_never_removed(system: str, tmp_path: Path) -> None:
    others = [
        ".file.tmp",
        ".file.1.0123abcd.tmp",
        ".file.toksmith-0123.tmp",
        ".file2.toksmith-0123abcd.tmp",
        "file.tmp",
    ]
    for name in others:
        (tmp_path / name).write_bytes(b"")
    (tmp_path / ".file.toksmith-0123abcd.tmp").mkdir()
    whole_files.write(tmp_path / "file", [b"new"])
    assert names(tmp_path) == sorted([*others, ".file.toksmith-0123abcd.tmp", "file"])
