"""Closing tags close what is open: in HTML, XML and in JSX.

A tag that closes something else than what is open gets the name of what is; one that closes nothing is cut off with
what follows it. Elements that HTML closes by itself may stay open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from midfill_server.postprocess.site import Site

HTML = frozenset(["html", "vue", "svelte"])
CODE = frozenset(["javascriptreact", "typescriptreact"])
LANGUAGES = HTML | CODE | {"xml"}
NEAR = 12_000
_INSIDE = r"""(?P<slash>/?)(?P<name>[A-Za-z][\w.:-]*)?(?!,)(?:[^<>"'{}]|"[^"]*"|'[^']*'|\{[^{}]*\})*?(?P<own>/?)>"""
TAG = re.compile("<" + _INSIDE)
TAG_IN_CODE = re.compile(r"(?:(?<![\w)])<|<(?=/))" + _INSIDE)
"""Behind a word, what looks like a tag in code is a type's argument."""
COMMENT = re.compile(r"<!--.*?-->|<(script|style)\b.*?</\1>", re.DOTALL)
VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())  # noqa: SIM905
BEGUN = re.compile(r"</([\w.:-]*)\Z")
NAME = re.compile(r"[\w.:-]*>?")


def with_right_tags(text: str, site: Site, language: str) -> str:
    """The middle with closing tags that fit what is open at its place."""
    if language not in LANGUAGES:
        return text
    near = COMMENT.sub("", site.prefix[-NEAR:])
    stack = _open(near, language)
    begun = BEGUN.search(near)
    if begun is None:
        return _closing_what_is_open(text, stack, language)
    if not stack or not stack[-1].startswith(begun[1]):
        return text
    name, rest = stack.pop()[len(begun[1]) :], text[len((NAME.match(text) or [""])[0]) :]
    return name + ">" + _closing_what_is_open(rest, stack, language)


def _open(text: str, language: str) -> list[str]:
    stack: list[str] = []
    for tag in _tags(text, language):
        _follow(stack, tag, language)
    return stack


def _tags(text: str, language: str) -> Iterator[re.Match[str]]:
    return (TAG_IN_CODE if language in CODE else TAG).finditer(text)


def _follow(stack: list[str], tag: re.Match[str], language: str) -> None:
    name = tag["name"] or ""
    if tag["slash"]:
        if name in stack:
            del stack[len(stack) - 1 - stack[::-1].index(name) :]
    elif not tag["own"] and not (language in HTML and name in VOID):
        stack.append(name)


def _closing_what_is_open(text: str, stack: list[str], language: str) -> str:
    """`stack` is not changed. A text before and after the tags stays as it is."""
    stack, pieces, done = list(stack), list[str](), 0
    for tag in _tags(text, language):
        name = tag["name"] or ""
        if tag["slash"] and not stack:
            return "".join([*pieces, text[done : tag.start()]]).rstrip()
        if tag["slash"] and name not in stack:
            pieces.append(f"{text[done : tag.start()]}</{stack.pop()}>")
            done = tag.end()
        else:
            _follow(stack, tag, language)
    return "".join([*pieces, text[done:]])
