"""From texts in Parquet to a trained tokenizer to ids in Parquet, on Ray Data.

    RAY_ADDRESS=HOST:6379 python examples/ray_tokenizer.py TEXTS TOKENIZER IDS --vocab-size 32000

Without `RAY_ADDRESS` it runs on the cores of this machine. All machines need toksmith, pyarrow and Ray.
A null text has null ids. Ray may write texts in another order.
"""

import argparse

import ray

from toksmith.distributed import ray as on_ray

SPECIAL_TOKENS = ["<|endoftext|>"]


def arguments() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description="Train a tokenizer on texts in Parquet, and encode them, on Ray.")
    parser.add_argument("texts", help="file or folder of Parquet, as Ray names it")
    parser.add_argument("tokenizer", help="file of this machine to save the tokenizer as")
    parser.add_argument("ids", help="folder of Parquet to write, as Ray names it, with a column input_ids")
    parser.add_argument("--column", default="text", help="name of the column of texts")
    parser.add_argument("--vocab-size", type=int, default=32_000, help="how many tokens the tokenizer has")
    parser.add_argument("--pattern", default="o200k", help="what cuts texts into pretokens")
    return parser.parse_args()


def main() -> None:
    """Train, save, encode."""
    given = arguments()
    ray.init()
    texts = ray.data.read_parquet(given.texts, columns=[given.column])
    tokenizer = on_ray.train(
        texts, given.column, given.vocab_size, special_tokens=SPECIAL_TOKENS, pattern=given.pattern
    )
    tokenizer.save(given.tokenizer)
    on_ray.encode(texts, given.column, tokenizer, keep=False).write_parquet(given.ids)
    ray.shutdown()


if __name__ == "__main__":
    main()
