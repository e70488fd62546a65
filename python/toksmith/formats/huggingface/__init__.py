"""Hugging Face's `tokenizer.json`: the meaning of its parts, which are checked one by one, and refused by name.

The core reads and runs the file. Here `read` loads it, `pipeline` has the steps around the model, `file_patterns`
compiles their regular expressions; `folder` and `write` save it.
An error names the part by its place in the file (`$.pre_tokenizer.pretokenizers[1]`).

Source of all rules: `tokenizers` 0.23.3, with which the tests compare every part.
"""
