"""`toksmith.compare`: how tokenizers encode the same texts."""
