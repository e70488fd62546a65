"""Tokenizers made of others: with fewer tokens, with more, and with new tokens in the place of reserved ones."""
