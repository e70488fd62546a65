"""Shards of conversations beside shards of the same texts.

`python benches/conversations.py TOKENIZER TEXT [TEMPLATE]` cuts records with messages from the text, as many
megabytes as the text has, or `--megabytes`; each run is a process of its own, in turn. TEMPLATE is a file; without it
ChatML. `--python` lays out all of them by Jinja.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
RUN = """\
import sys, time
import toksmith
kind, tokenizer, source, out, template, by_python = sys.argv[1:]
tokenizer = toksmith.Tokenizer.from_pretrained(tokenizer)
options = {} if kind == "texts" else {"messages": True, "chat": {"chat_template": open(template).read()}}
if by_python == "True":
    from toksmith.chat.conversation import Layout
    Layout.exported = lambda layout: None
start = time.perf_counter()
toksmith.tokenize(source, tokenizer, out, append="none", **options)
print(time.perf_counter() - start)
"""


def write(text: str, megabytes: float, folder: Path) -> dict[str, Path]:
    """Write conversations, and the same texts one after the other."""
    paths = {"conversations": folder / "conversations.jsonl", "texts": folder / "texts.jsonl"}
    rng, at, size = random.Random(1), 0, 0
    with paths["conversations"].open("w") as chats, paths["texts"].open("w") as texts:
        while size < megabytes * 1e6:
            messages = []
            for _ in range(rng.randrange(1, 5)):
                for role, longest in (("user", 400), ("assistant", 2000)):
                    length = rng.randrange(50, longest)
                    messages.append({"role": role, "content": text[at : at + length]})
                    at = at + length if at + 4000 < len(text) else rng.randrange(50_000)
            size += chats.write(json.dumps({"messages": messages}, ensure_ascii=False) + "\n")
            whole = "\n".join(message["content"] for message in messages)
            texts.write(json.dumps({"text": whole}, ensure_ascii=False) + "\n")
    return paths


def main() -> None:
    """Print the seconds of both, least and median, and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tokenizer")
    parser.add_argument("text", type=Path)
    parser.add_argument("template", type=Path, nargs="?")
    parser.add_argument("--megabytes", type=float)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--python", action="store_true")
    options = parser.parse_args()
    text = options.text.read_text("utf-8", errors="replace")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = write(text, options.megabytes or options.text.stat().st_size / 1e6, folder)
        template = options.template or folder / "chatml.jinja"
        if options.template is None:
            template.write_text(CHATML)
        seconds: dict[str, list[float]] = {kind: [] for kind in paths}
        for number in range(options.rounds):
            for kind, path in paths.items():
                out = folder / f"{kind}-{number}"
                arguments = [kind, options.tokenizer, path, out, template, options.python]
                done = subprocess.run(
                    [sys.executable, "-W", "ignore", "-c", RUN, *map(str, arguments)], capture_output=True, check=True
                )
                seconds[kind].append(float(done.stdout))
        for kind, path in paths.items():
            least, middle = min(seconds[kind]), statistics.median(seconds[kind])
            print(f"{kind}: {least:.2f} s, median {middle:.2f} s, {path.stat().st_size / 1e6 / least:.0f} MB/s")
        print(f"speed: {min(seconds['texts']) / min(seconds['conversations']):.2f} of that of texts")


if __name__ == "__main__":
    main()
