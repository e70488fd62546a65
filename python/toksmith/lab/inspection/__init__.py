"""The contents of a vocabulary, the tokens that no text is encoded to, and the use of each token in a text."""
