"""Code in Markdown is judged as what it is."""

from __future__ import annotations

import pytest

from midfill_server.ondemand.embedded import code_around
from midfill_server.postprocess import Site


@pytest.mark.parametrize(
    ("marked", "language", "expected"),
    [
        ("# T\n\n```python\nx = |\n```\n\nMore\n", "markdown", ("x = |\n", "python")),
        ("```py\na\n```\n\n```{rust}\nfn f() {|\n", "markdown", ("fn f() {|\n", "rust")),
        ("  ~~~ ts\n  f(|)\n  ~~~\n", "mdx", ("  f(|)\n", "typescript")),
        ("```\n|\n```\n", "markdown", ("|\n", "")),
        ("```py\nx\n```\ntext | here\n```py\ny\n```\n", "markdown", None),
        ("```py|\nx\n```\n", "markdown", None),
        ("say `a` and ```b``` |\n", "markdown", None),
        ("s = '''\n```py\n|\n```\n'''\n", "python", None),
    ],
)
def test_what_is_around_a_place(marked: str, language: str, expected: tuple[str, str] | None) -> None:
    """A rewrite inside a block of Python in Markdown was taken though it left a string open: nobody could tell."""
    before, _, after = marked.partition("|")
    site, found = code_around(Site(before, after), language)
    assert (site.prefix + "|" + site.suffix, found) == (expected or (marked, language))
