"""What a vocabulary is made of, which of its tokens no text gives, and what each is used for in a text."""
