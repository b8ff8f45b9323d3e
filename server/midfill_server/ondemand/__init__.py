"""Filling on demand: somebody has asked for it, waits for it and is told what came of it.

    argument ─▶ order ─▶ task (holes, each a place and what is given there) ─▶ desk (engine) ─▶ replacements

Knows nothing of the protocol's types; the features translate. One idea a file.
"""
