"""minbpe's classes, on toksmith: `from toksmith.compat.minbpe import RegexTokenizer`.

The same methods, merges, ids and files as Andrej Karpathy's minbpe (github.com/karpathy/minbpe), without the wait.
Its modules are here too: `toksmith.compat.minbpe.base`, `basic`, `regex` and `gpt4`.

>>> tokenizer = BasicTokenizer()
>>> tokenizer.train("aaabdaaabac", 256 + 3)
>>> tokenizer.encode("aaabdaaabac")
[258, 100, 258, 97, 99]
>>> tokenizer.decode([258, 100, 258, 97, 99])
'aaabdaaabac'
"""

from .. import aliases as _aliases
from .base import Tokenizer
from .basic import BasicTokenizer
from .gpt4 import GPT4Tokenizer
from .regex import RegexTokenizer

__all__ = ["BasicTokenizer", "GPT4Tokenizer", "RegexTokenizer", "Tokenizer"]


def install() -> _aliases.Installation:
    """Make `import minbpe` import this package until `uninstall` of the result, or the end of a `with` block."""
    return _aliases.Installation("minbpe")
