"""A vocabulary at a glance, and how texts use it."""

from __future__ import annotations

from ..._internal.arguments import naming_keywords, whole
from ..._internal.progress import Report, reporter, summing
from ...corpus import Corpus, TextSources
from ...tokenizer import Tokenizer, tokenizer_of
from . import vocabulary as figures
from .reach import reach
from .report import Inspection
from .usage import Counter, usage


@naming_keywords
def inspect(
    tokenizer: Tokenizer | object,
    on: Corpus | TextSources | None = None,
    *,
    top: int = 10,
    special: bool = True,
    workers: int | None = None,
    progress: bool | Report = False,
) -> Inspection:
    """Return what the vocabulary is made of, which tokens no text is encoded to, and how texts use it.

    `print` shows it, a notebook draws it, and `to_dict` gives plain data. The figures are defined in
    `docs/inspecting.md`.

    Args:
        tokenizer: A `Tokenizer`, or what `Tokenizer.from_pretrained` takes, such as "gpt2".
        on: Texts to count the uses of tokens on: a `Corpus`, or what makes one: a path, a glob, a folder, or "-" for
            standard input; a list or tuple of these; or any other iterable, of texts. None looks at the vocabulary
            alone.
        top: How many tokens each list of examples has at most.
        special: Whether special tokens in the texts become their ids.
        workers: Threads; default: all cores.
        progress: True shows a bar on standard error; a callable gets (stage, done, total), in bytes.

    Cost: each token is encoded once, and texts are encoded once: some seconds for a vocabulary of 200,000 and
    100 MB. Memory does not grow with the length of texts, beyond the longest record of JSON lines or Parquet.

    Raises:
        OSError: A file cannot be read, or changes meanwhile.
        ValueError: A file is not UTF-8, is damaged, or a record has no text; names file and place.

    >>> import toksmith
    >>> usage = toksmith.lab.inspect(toksmith.Tokenizer(), iter(["low low", "lower"])).usage
    >>> usage.tokens, usage.most_used[0]
    (12, Used(id=108, token=b'l', uses=3))
    """
    tokenizer, top = tokenizer_of(tokenizer), whole("top", top, 0)
    texts = Corpus.of(iter([]) if on is None else on)
    texts.check_local()
    vocabulary = figures.Vocabulary(tokenizer)
    reached = reach(vocabulary, workers)
    tree = figures.Tree(vocabulary)
    used = None
    if on is not None:
        counter = Counter(tokenizer, vocabulary.ids, special, workers)
        with reporter(progress) as report:
            counter.add(texts.documents(summing(report, "encode", texts.total_bytes)))
        used = usage(vocabulary, tree, reached, counter, top)
    return Inspection(
        sizes=figures.sizes(vocabulary),
        special=tuple(vocabulary.token(id) for id in sorted(vocabulary.special)),
        contents=figures.contents(vocabulary),
        reach=reached,
        merging=figures.merging(vocabulary, tree, top),
        duplicates=figures.duplicates(vocabulary, top),
        usage=used,
    )
