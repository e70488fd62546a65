"""How large the page of tokens is, how fast it opens, and how fast it answers a key, in Chromium without a window.

`python benches/page.py` needs Chromium, and the rank files and corpora in ../shared/data. Times are those of the
page's own clock: from the start of the navigation until the tokens of the first text are there, and from a key until
the frame in which its tokens are drawn. Beside each stands the processor time of the page's main thread, which other
programs on the machine change less.
"""

import argparse
import gzip
import json
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests/python/helpers"))
import browser

from toksmith import Tokenizer
from toksmith.lab import page

DATA = Path(__file__).resolve().parents[2] / "shared/data"
PATTERNS = {"gpt2": "gpt2", "cl100k_base": "cl100k", "o200k_base": "o200k"}

# A key is done in the first task behind the frame: then the frame was drawn.
LISTEN = """
globalThis.times = [];
addEventListener("keydown", (event) => requestAnimationFrame(() => {
  const channel = new MessageChannel();
  channel.port1.onmessage = () => times.push(performance.now() - event.timeStamp);
  channel.port2.postMessage(null);
}), true);
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10, help="how often the page is opened (default: 10)")
    parser.add_argument("--keys", type=int, default=40, help="keys that are pressed in each text (default: 40)")
    parser.add_argument("tokenizers", nargs="*", default=["o200k_base"], help="gpt2, cl100k_base, o200k_base")
    arguments = parser.parse_args()
    path = browser.program()
    if path is None:
        sys.exit("no Chromium is installed; the variable CHROMIUM may hold its path")
    with tempfile.TemporaryDirectory() as folder, browser.started(path) as chromium:
        file = Path(folder) / "page.html"
        page.write(file, {name: tokenizer(name) for name in arguments.tokenizers}, text="Hello, world!")
        print(f"{', '.join(arguments.tokenizers)}: {file.stat().st_size / 1e6:.2f} MB")
        chromium.call("Performance.enable", timeDomain="threadTicks")
        print(f"opened in {spread([opened(chromium, file) for _ in range(arguments.rounds)])}")
        for name in ("en", "code", "multi"):
            text = gzip.decompress((DATA / f"corpora/{name}.txt.gz").read_bytes()).decode()
            for size in (10_000, 100_000):
                times = typed(chromium, file, text[:size], arguments.keys)
                print(f"a key in the middle of {size:,} characters of {name}: {spread(times)}")


def tokenizer(name: str) -> Tokenizer:
    special = json.loads((DATA / f"vocabs/{name}.special.json").read_text())
    return Tokenizer.from_tiktoken(DATA / f"vocabs/{name}.tiktoken", pattern=PATTERNS[name], special_tokens=special)


def processor_time(chromium: browser.Browser) -> float:
    """Return the milliseconds that the main thread of the page has worked."""
    metrics = chromium.call("Performance.getMetrics")["metrics"]
    return 1000 * next(float(metric["value"]) for metric in metrics if metric["name"] == "TaskDuration")


def opened(chromium: browser.Browser, file: Path) -> tuple[float, float]:
    """Open the page; return the milliseconds until the tokens of its text were there, and the processor time."""
    chromium.call("Page.navigate", url="about:blank")
    start = processor_time(chromium)
    chromium.open(file)
    return float(chromium.evaluate("performance.getEntriesByName('ready')[0].startTime")), processor_time(
        chromium
    ) - start


def typed(chromium: browser.Browser, file: Path, text: str, keys: int) -> list[tuple[float, float]]:
    """Press keys in the middle of a text; return the milliseconds until each was answered, and the processor time."""
    chromium.open(file)
    script = f"""
    const input = document.getElementById("text");
    input.value = {json.dumps(text)};
    input.dispatchEvent(new Event("input"));
    input.focus();
    input.setSelectionRange({len(text) // 2}, {len(text) // 2});
    """
    chromium.evaluate(f"{{{script}}}")
    chromium.frames()
    chromium.evaluate(LISTEN)
    worked = []
    for i in range(keys):
        start = processor_time(chromium)
        press(chromium, "a quick fox "[i % 12])
        worked.append(processor_time(chromium) - start)
    times: list[float] = chromium.evaluate("times")
    return list(zip(times, worked, strict=True))


def press(chromium: browser.Browser, letter: str) -> None:
    code = ord(letter.upper())
    for kind in ("keyDown", "keyUp"):
        text = {"text": letter} if kind == "keyDown" else {}
        chromium.call("Input.dispatchKeyEvent", type=kind, key=letter, windowsVirtualKeyCode=code, **text)
    chromium.frames()


def spread(measured: list[tuple[float, float]]) -> str:
    times, worked = zip(*measured, strict=True)
    return (
        f"{statistics.median(times):.0f} ms ({min(times):.0f} to {max(times):.0f}), "
        f"processor time {statistics.median(worked):.0f} ms ({min(worked):.0f} to {max(worked):.0f})"
    )


if __name__ == "__main__":
    main()
