"""Tokenizers looked at and compared: `toksmith.view`, `explain`, `inspect` and `compare`, and `page.write`.

It imports only public names of the package, and could be a package of its own.
"""
