"""What encodes and decodes piece by piece: files, streams of text, and ids that arrive one by one."""
