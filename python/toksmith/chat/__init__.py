"""Conversations: chat templates in Jinja's sandbox, with a record of who wrote each character.

A template is run on messages whose texts are `MarkedText`, so that the result knows, character by character, what the
template wrote and what came from a message. `toksmith.Tokenizer` has the public methods.
"""
