"""tiktoken's API: its class `Encoding`, its encodings by name, and their rank files on this machine."""
