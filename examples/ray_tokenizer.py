"""From texts in Parquet to a trained tokenizer to shards of ids for training, on Ray Data.

    RAY_ADDRESS=HOST:6379 python examples/ray_tokenizer.py TEXTS TOKENIZER SHARDS --vocab-size 32000

Without `RAY_ADDRESS` it runs on the cores of this machine. All machines need toksmith, pyarrow and Ray.
A null text is no document. Without `--order` documents keep the order in which Ray reads them.
"""

import argparse

import ray

from toksmith.engines import ray as on_ray

END = "<|endoftext|>"


def arguments() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description="Train a tokenizer on texts, and make shards of them, on Ray.")
    parser.add_argument("texts", help="file or folder of Parquet, as Ray names it")
    parser.add_argument("tokenizer", help="file of this machine to save the tokenizer as")
    parser.add_argument("shards", help="folder to write, under a name by which all machines see it")
    parser.add_argument("--column", default="text", help="name of the column of texts")
    parser.add_argument("--order", help="name of a column of whole numbers that orders the texts")
    parser.add_argument("--vocab-size", type=int, default=32_000, help="how many tokens the tokenizer has")
    parser.add_argument("--pattern", default="o200k", help="what cuts texts into pretokens")
    return parser.parse_args()


def main() -> None:
    """Train, save, make shards."""
    given = arguments()
    ray.init()
    texts = ray.data.read_parquet(given.texts)
    tokenizer = on_ray.train(texts, given.column, given.vocab_size, special_tokens=[END], pattern=given.pattern)
    tokenizer.save(given.tokenizer)
    told = on_ray.tokenize(
        texts, given.column, tokenizer, given.shards, order=given.order, append=END, split={"val": 0.01}
    )
    print(f"{told['totals']['documents']} documents, {told['totals']['tokens']} ids")
    ray.shutdown()


if __name__ == "__main__":
    main()
