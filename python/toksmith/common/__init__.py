"""What every other room uses: checks of arguments, values in messages, progress, memory, read-only views."""
