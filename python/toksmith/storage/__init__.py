"""Loading and saving tokenizers: from the content of files to what a tokenizer is made of, and back."""
