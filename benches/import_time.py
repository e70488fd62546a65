"""Time `import toksmith`, and the first use of `Tokenizer`, over a bare interpreter: best of twenty processes each.

usage: python benches/import_time.py
"""

import subprocess
import sys
import time


def best(code: str) -> float:
    times = []
    for _ in range(20):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        times.append(time.perf_counter() - start)
    return 1000 * min(times)


bare = best("pass")
imported, used = best("import toksmith"), best("import toksmith; toksmith.Tokenizer")
print(f"bare {bare:.1f} ms, import {imported - bare:.1f} ms more, with Tokenizer {used - bare:.1f} ms more")
