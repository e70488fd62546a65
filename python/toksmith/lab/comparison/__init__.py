"""How well tokenizers compress texts, and where they differ: `toksmith.compare`."""
