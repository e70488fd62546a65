"""Encoding of files and streams, and decoding of ids that arrive one by one."""
