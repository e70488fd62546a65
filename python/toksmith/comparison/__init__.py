"""Comparing tokenizers: the first difference between two, and texts that are likely to show one."""
