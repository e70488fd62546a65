"""Text that arrives in pieces to ids, and ids that arrive one by one to text."""
