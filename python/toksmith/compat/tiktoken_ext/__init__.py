"""tiktoken's namespace package of plug-ins, with the one that tiktoken itself ships."""
