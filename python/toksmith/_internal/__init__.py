"""Modules that all other packages use: checks of arguments, values in messages, progress, memory."""
