"""toksmith in `transformers`; `toksmith.compat.huggingface` has the public names.

`transformers` keeps all features of a fast tokenizer (special tokens, padding, truncation, tensors, chat templates,
saving) in a class around a `tokenizers.Tokenizer`. The class is kept, with toksmith inside, and so is what the class
of a model does (Cohere pads on the left, Whisper puts tokens in front).
"""

from __future__ import annotations

import contextlib
import copy
import functools
import json
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .. import _core
from .._internal.messages import shown
from ..files import text_files, whole_files
from ..tokenizer import Tokenizer as Native
from .huggingface.tokenizers import DecodeStream, Tokenizer

try:
    from tokenizers import decoders
    from transformers import AutoTokenizer, PreTrainedTokenizerFast
    from transformers.models.auto.tokenization_auto import tokenizer_class_from_name
except ImportError as error:
    raise ImportError("toksmith.compat.transformers needs the package `transformers`: install it") from error

Fast = Any
"""A fast tokenizer of `transformers`, or its class: `transformers` is not typed for mypy."""

_decoders: Any = decoders
_ROLES = (
    *("bos_token", "eos_token", "unk_token", "pad_token", "sep_token", "cls_token", "mask_token"),
    *("extra_special_tokens", "additional_special_tokens"),
)


class ToksmithTokenizer:
    """Loads fast tokenizers of `transformers` that encode and decode with toksmith, and are else what they were."""

    @staticmethod
    def from_pretrained(pretrained_model_name_or_path: object, *inputs: object, **options: object) -> Fast:
        """Load a folder, or the name of a model, as `AutoTokenizer.from_pretrained` does."""
        return swapped(AutoTokenizer.from_pretrained(pretrained_model_name_or_path, *inputs, **options))


def swapped(tokenizer: Fast) -> Fast:
    """Return a fast tokenizer of `transformers`, with toksmith inside; everything else of it is copied."""
    kind = type(tokenizer)
    if not isinstance(tokenizer, PreTrainedTokenizerFast):
        raise ValueError(
            f"{kind.__name__} is not around a tokenizers.Tokenizer, so toksmith cannot stand in: use it as it is"
        )
    if isinstance(tokenizer.backend_tokenizer, Tokenizer):
        return tokenizer
    made = object.__new__(kind)
    others = {name: copy.deepcopy(value) for name, value in tokenizer.__dict__.items() if name != "_tokenizer"}
    made.__dict__.update(others, _tokenizer=adapter_of(copy.deepcopy(tokenizer.backend_tokenizer), kind.__name__))
    return made


def adapter_of(backend: Fast, name: str) -> Tokenizer:
    """Return the stand-in for a `tokenizers.Tokenizer`, which it keeps and changes."""
    with text_files.naming(name):
        return Tokenizer.around(backend)


def pretrained(tokenizer: Native | Tokenizer | Fast, **options: object) -> Fast:
    """Return a tokenizer for `transformers` that encodes with a toksmith tokenizer.

    A tokenizer that came from a Hugging Face folder, or from an object of `transformers`, keeps the settings there:
    its class, roles of special tokens, chat templates, lengths and sides. Any other has the special tokens with usual
    names as `bos_token`, `eos_token`, `unk_token` and `pad_token`, as in `Tokenizer.save_huggingface`.

    Args:
        tokenizer: A `toksmith.Tokenizer`, the adapter around one, or a fast tokenizer of `transformers`.
        **options: Settings of `transformers` to replace: roles such as `eos_token` (None: no such token),
            `chat_template`, `model_max_length`, `padding_side`, …

    Raises:
        ValueError: A role names no token of the tokenizer, or the tokenizer's class is not around a
            `tokenizers.Tokenizer`, or is not known.
    """
    made = _made(tokenizer)
    if made is tokenizer and options:
        made = copy.deepcopy(made)
    names = made.get_vocab() if options else {}
    # Roles come first, since `add_bos_token` puts the token in front that is `bos_token` then.
    for name, value in sorted(options.items(), key=lambda option: option[0] not in _ROLES):
        for token in value if isinstance(value, (list, tuple)) else [value]:
            if name in _ROLES and token is not None and str(token) not in names:
                raise ValueError(f"{name} is {shown(str(token))}, which is not a token of this tokenizer")
        setattr(made, name, value)
        made.init_kwargs[name] = value
    return made


def _made(tokenizer: Native | Tokenizer | Fast) -> Fast:
    if callable(getattr(tokenizer, "save_pretrained", None)):
        return swapped(tokenizer)
    adapter = tokenizer if isinstance(tokenizer, Tokenizer) else Tokenizer(tokenizer)
    core = adapter._tokenizer._core
    if (files := core.folder_files()) and not isinstance(tokenizer, Tokenizer):
        return _of_files(core, files.get("config.json"))
    by_role = core.roles()
    ordinary = {id for id, token in adapter.get_added_tokens_decoder().items() if not token.special}
    special = sorted((id, name) for name, id in adapter._tokenizer.special_tokens.items() if id not in ordinary)
    others = [name for _, name in special if name not in by_role.values()]
    return PreTrainedTokenizerFast(
        tokenizer_object=adapter, **by_role, extra_special_tokens=others, clean_up_tokenization_spaces=False
    )


def _of_files(core: _core.Tokenizer, model: dict[str, Any] | None) -> Fast:
    """Return the tokenizer that `transformers` loads from its folder, with toksmith inside.

    `model` is what the configuration of the model says of the tokenizer.
    """
    files, warned = core.folder({})
    for warning in warned:
        warnings.warn(warning, stacklevel=4)
    config = json.loads(files["tokenizer_config.json"])
    if tokenizer_class_from_name(config["tokenizer_class"]) is None:
        raise ValueError(
            f"the folder names the class {shown(config['tokenizer_class'])}, which transformers does not have: load "
            "it with AutoTokenizer.from_pretrained(folder, trust_remote_code=True) if you trust its code, and give "
            "the result"
        )
    config.pop("auto_map", None)  # the class is loaded already, and the code that auto_map names is not here
    files["tokenizer_config.json"] = json.dumps(config).encode()
    if model is not None:
        files["config.json"] = json.dumps(model).encode()
    with tempfile.TemporaryDirectory() as folder:
        whole_files.write_all([(Path(folder, name), [content]) for name, content in files.items()], make_folder=True)
        tokenizer = ToksmithTokenizer.from_pretrained(folder)
    tokenizer.name_or_path = tokenizer.init_kwargs["name_or_path"] = ""
    return tokenizer


# In every tokenizer that `transformers` makes

_installed: Installed | None = None


class Installed(contextlib.AbstractContextManager["Installed"]):
    """The result of `install`: `uninstall` ends the installation, and so does the end of a `with`.

    Attributes:
        kept: Names of classes whose tokenizers stayed as they are, with the reason.
    """

    def __init__(self) -> None:
        self.kept: dict[str, str] = {}
        original: Callable[..., None] = PreTrainedTokenizerFast.__init__
        self._original: Callable[..., None] | None = original

        @functools.wraps(original)
        def init(tokenizer: Fast, *args: object, **options: object) -> None:
            original(tokenizer, *args, **options)
            name, backend = type(tokenizer).__name__, tokenizer.backend_tokenizer
            try:
                tokenizer._tokenizer = backend if isinstance(backend, Tokenizer) else adapter_of(backend, name)
            except ValueError as error:
                self.kept[name] = str(error)
                warnings.warn(f"this tokenizer stays as it is, without toksmith: {error}", stacklevel=3)

        PreTrainedTokenizerFast.__init__ = init
        # transformers streams text by it, and the original takes no tokenizer of toksmith.
        self._stream, _decoders.DecodeStream = getattr(_decoders, "DecodeStream", None), DecodeStream

    def uninstall(self) -> None:
        """Let `transformers` make its own tokenizers again. Tokenizers that were made before stay as they are."""
        global _installed
        if self._original is not None:
            PreTrainedTokenizerFast.__init__ = self._original
            _decoders.DecodeStream = self._stream
            self._original = None
        if _installed is self:
            _installed = None

    def __exit__(self, *exception: object) -> None:
        self.uninstall()


def install() -> Installed:
    """Put toksmith into every fast tokenizer that `transformers` makes from now on, in whatever way it is made.

    A tokenizer that toksmith cannot replace (WordPiece, Unigram, …) stays as it is, and a warning names the part that
    is the reason. `tokenizers.decoders.DecodeStream` becomes toksmith's, which takes both kinds. A second call
    returns the same object as the first.
    """
    global _installed
    if _installed is None:
        _installed = Installed()
    return _installed
