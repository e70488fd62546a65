"""Hugging Face's `tokenizer.json`: what its parts mean, checked one by one, and refused by name where need be.

`document` reads the file, `model` the vocabulary and merges, `added` the added tokens, `normalizers` and
`pretokenizers` what happens to text before, `template` what is put around the ids; `read` puts them together. Each
part names itself by its place in the file (`$.pre_tokenizer.pretokenizers[1]`) when it refuses something.

Source of all rules: `tokenizers` 0.23.3, which the tests hold every part against.
"""
