"""From texts in Parquet to a trained tokenizer to shards of ids for training, on Spark.

    spark-submit --master spark://HOST:7077 examples/spark_tokenizer.py TEXTS TOKENIZER SHARDS --vocab-size 32000

`python examples/spark_tokenizer.py …` runs on the cores of this machine. All machines need toksmith, pyarrow and
pandas, in the Python that `PYSPARK_PYTHON` names; by default, at the path of the Python that runs this program.
A null text is no document. Without `--order` documents keep the order in which Spark reads them.
"""

import argparse
import os
import sys

from pyspark.sql import SparkSession

from toksmith.engines import spark as on_spark

END = "<|endoftext|>"


def arguments() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description="Train a tokenizer on texts, and make shards of them, on Spark.")
    parser.add_argument("texts", help="file or folder of Parquet, as Spark names it")
    parser.add_argument("tokenizer", help="file of the driver's machine to save the tokenizer as")
    parser.add_argument("shards", help="folder to write, under a name by which all machines see it")
    parser.add_argument("--column", default="text", help="name of the column of texts")
    parser.add_argument("--order", help="name of a column of whole numbers that orders the texts")
    parser.add_argument("--vocab-size", type=int, default=32_000, help="how many tokens the tokenizer has")
    parser.add_argument("--pattern", default="o200k", help="what cuts texts into pretokens")
    return parser.parse_args()


def main() -> None:
    """Train, save, make shards."""
    given = arguments()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # Spark would take the python3 of the PATH
    spark = SparkSession.builder.appName("toksmith").getOrCreate()
    texts = spark.read.parquet(given.texts)
    tokenizer = on_spark.train(texts, given.column, given.vocab_size, special_tokens=[END], pattern=given.pattern)
    tokenizer.save(given.tokenizer)
    told = on_spark.tokenize(
        texts, given.column, tokenizer, given.shards, order=given.order, append=END, split={"val": 0.01}
    )
    print(f"{told['totals']['documents']} documents, {told['totals']['tokens']} ids")
    spark.stop()


if __name__ == "__main__":
    main()
