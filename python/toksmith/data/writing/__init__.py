"""Encoding documents into shards of ids for training: `toksmith.tokenize`."""
