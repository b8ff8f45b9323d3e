"""The preset `remote`: an engine that somebody else runs, over HTTP, behind the same `Engine` Protocol.

    request ──> a kind (llama.cpp /infill, completions with a suffix, chat) ──> place (address, key, proxy) ──> server
    result <── read-out, syntax, candidates <── what was said, piece by piece <──────────────────────────────────┘

What comes back goes through the read-out of local fills: a stranger's model echoes the suffix too. Knows no model.
"""
