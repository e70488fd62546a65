"""Tokenizers looked at and compared: `toksmith.view`, `explain`, `inspect` and `compare`, and `page.write`.

`parts` is the only module of it that looks inside a tokenizer.
"""
