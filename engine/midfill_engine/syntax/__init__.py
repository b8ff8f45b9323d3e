"""What syntax knows of a text: plain values from tree-sitter, for the engine and for the server.

    language ─▶ grammars ─▶ source (text ◀─▶ tree) ─▶ holes, place, scope, gate

Imports neither torch nor the server, and of the engine nothing at all. Every function takes a language that is not
known and text that does not parse. Offsets are code points.
"""
