"""Code in a block of Markdown: what stands around a place in it, and in which language."""

from __future__ import annotations

import re

from midfill_server.postprocess import Site

MARKDOWN = frozenset(["markdown", "mdx", "quarto", "rmd"])
FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[ \t]*\{?\.?(?P<name>[\w+#-]*)[^`\n]*$", re.MULTILINE)
LANGUAGES = {
    "py": "python",
    "js": "javascript",
    "jsx": "javascriptreact",
    "ts": "typescript",
    "tsx": "typescriptreact",
    "rs": "rust",
    "golang": "go",
    "yml": "yaml",
}


def code_around(site: Site, language: str) -> tuple[Site, str]:
    """The block's part of a site and the block's language; the site itself where no block is open."""
    if language not in MARKDOWN:
        return site, language
    opened = None
    for fence in FENCE.finditer(site.prefix):
        opened = fence if opened is None else None
    if opened is None or opened.end() == len(site.prefix):
        return site, language
    closing = FENCE.search(site.suffix)
    name = opened["name"].lower()
    before = site.prefix[opened.end() + 1 :]
    return Site(before, site.suffix[: closing.start()] if closing else site.suffix), LANGUAGES.get(name, name)
