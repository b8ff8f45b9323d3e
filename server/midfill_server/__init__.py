"""The language server and the command line: everything about editors, texts and settings, nothing about models."""
