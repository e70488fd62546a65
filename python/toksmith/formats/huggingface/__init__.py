"""Folders of `transformers`: written here, read by the core (src/formats/huggingface)."""
