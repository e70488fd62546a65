"""From texts in Parquet to a trained tokenizer to ids in Parquet, on Spark.

    spark-submit --master spark://HOST:7077 examples/spark_tokenizer.py TEXTS TOKENIZER IDS --vocab-size 32000

`python examples/spark_tokenizer.py …` runs on the cores of this machine. All machines need toksmith, pyarrow and
pandas. A null text has null ids.
"""

import argparse

from pyspark.sql import SparkSession

from toksmith.distributed import spark as on_spark

SPECIAL_TOKENS = ["<|endoftext|>"]


def arguments() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description="Train a tokenizer on texts in Parquet, and encode them, on Spark.")
    parser.add_argument("texts", help="file or folder of Parquet, as Spark names it")
    parser.add_argument("tokenizer", help="file of the driver's machine to save the tokenizer as")
    parser.add_argument("ids", help="folder of Parquet to write, as Spark names it, with a column input_ids")
    parser.add_argument("--column", default="text", help="name of the column of texts")
    parser.add_argument("--vocab-size", type=int, default=32_000, help="how many tokens the tokenizer has")
    parser.add_argument("--pattern", default="o200k", help="what cuts texts into pretokens")
    return parser.parse_args()


def main() -> None:
    """Train, save, encode."""
    given = arguments()
    spark = SparkSession.builder.appName("toksmith").getOrCreate()
    texts = spark.read.parquet(given.texts)
    tokenizer = on_spark.train(
        texts, given.column, given.vocab_size, special_tokens=SPECIAL_TOKENS, pattern=given.pattern
    )
    tokenizer.save(given.tokenizer)
    on_spark.encode(texts, given.column, tokenizer, keep=False).write.parquet(given.ids)
    spark.stop()


if __name__ == "__main__":
    main()
