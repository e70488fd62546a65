"""Hugging Face's `tokenizer.json`: the meaning of its parts, which are checked one by one, and refused by name.

`document` reads the file, `model` the vocabulary and merges, `added` the added tokens, `normalizers` and
`pretokenizers` the steps before merging, `template` the tokens that are put around the ids; `read` puts all together.
An error names the part by its place in the file (`$.pre_tokenizer.pretokenizers[1]`).

Source of all rules: `tokenizers` 0.23.3, with which the tests compare every part.
"""
