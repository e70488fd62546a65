"""Documents to shards of ids for training: `toksmith.tokenize`."""
