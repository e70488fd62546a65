"""toksmith in `transformers`: `toksmith.compat.huggingface` has the public names."""
