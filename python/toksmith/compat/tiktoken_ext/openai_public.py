"""tiktoken's own plug-in: for each published encoding a function that returns the arguments of `Encoding`."""

from ...formats.published import encodings
from ..tiktoken.load import data_gym_to_mergeable_bpe_ranks as data_gym_to_mergeable_bpe_ranks
from ..tiktoken.load import load_tiktoken_bpe as load_tiktoken_bpe
from ..tiktoken.registry import PUBLISHED as ENCODING_CONSTRUCTORS

ENDOFTEXT = "<|endoftext|>"
FIM_PREFIX = "<|fim_prefix|>"
FIM_MIDDLE = "<|fim_middle|>"
FIM_SUFFIX = "<|fim_suffix|>"
ENDOFPROMPT = "<|endofprompt|>"

r50k_pat_str = encodings.ENCODINGS["r50k_base"].pat_str

gpt2 = ENCODING_CONSTRUCTORS["gpt2"]
r50k_base = ENCODING_CONSTRUCTORS["r50k_base"]
p50k_base = ENCODING_CONSTRUCTORS["p50k_base"]
p50k_edit = ENCODING_CONSTRUCTORS["p50k_edit"]
cl100k_base = ENCODING_CONSTRUCTORS["cl100k_base"]
o200k_base = ENCODING_CONSTRUCTORS["o200k_base"]
o200k_harmony = ENCODING_CONSTRUCTORS["o200k_harmony"]
