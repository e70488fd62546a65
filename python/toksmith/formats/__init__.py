"""File formats: tokenizers in the files that people use.

Each module turns a file into plain data (a vocabulary, merges, special tokens) and back. Reading checks
the form of the file and names the file and the line; what the data means is checked by `Tokenizer`.
"""
