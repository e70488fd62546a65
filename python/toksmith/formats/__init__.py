"""Names, folders and objects that are tokenizers, and files that are saved, verified beside other libraries.

The core reads and writes the files (src/formats).
"""
