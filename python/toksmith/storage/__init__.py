"""Loading and saving tokenizers: from the content of files to the parts of a tokenizer, and back."""
