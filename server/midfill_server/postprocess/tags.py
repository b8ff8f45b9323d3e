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
OPTIONAL = frozenset("li dt dd p option optgroup tr td th thead tbody tfoot colgroup rt rp body html head".split())  # noqa: SIM905
NAMES_CLOSED = re.compile(r"</([\w.:-]*)>")
TAG_BEGUN = re.compile(r"""<(?:[A-Za-z][\w.:-]*(?:\s(?:[^<>"']|"[^"]*"|'[^']*')*)?)?\Z""")
CUT_TAG = re.compile(TAG_BEGUN.pattern.removesuffix(r"\Z") + r"""(?:"[^"]*|'[^']*)?\Z""")
UNFINISHED = re.compile(r"<[^<>]*\Z")
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
        tag = (CUT_TAG.search(near) or [""])[0]
        return _closing_what_is_open(tag + text, stack, language)[len(tag) :]
    whole = (NAME.match(begun[1] + text + site.suffix[:NEAR]) or [""])[0]
    if ">" in whole and ">" not in text and whole[:-1] in _closable(stack, language):
        return text  # its tag goes on behind it
    name = whole[:-1] if whole[:-1] in _closable(stack, language) else next(reversed(stack), "")
    if not name or not name.startswith(begun[1]):
        return text
    rest = text[len((NAME.match(text) or [""])[0]) :]
    del stack[len(stack) - 1 - stack[::-1].index(name) :]
    return name[len(begun[1]) :] + ">" + _closing_what_is_open(rest, stack, language)


def _closable(stack: list[str], language: str) -> list[str]:
    """What a closing tag may close, the innermost last: in HTML what is in elements that close by themselves, too."""
    depth = len(stack) - 1
    while language in HTML and depth > 0 and stack[depth] in OPTIONAL:
        depth -= 1
    return stack[max(depth, 0) :]


def lacks_closing(text: str, site: Site, language: str) -> bool:
    """Whether what is open around the middle is closed behind it before the elements that the middle opens. HTML's
    grammar closes them silently; those that anybody leaves open in HTML do not count."""
    stack = _open(COMMENT.sub("", site.prefix[-NEAR:]), language)
    names = [] if UNFINISHED.search(text) else NAMES_CLOSED.findall(closing_tags(text, site, language))
    depth = 0
    for tag in _tags(site.suffix[:NEAR], language) if names and stack else ():
        if tag["slash"] and not depth:
            return tag["name"] == stack[-1] and tag["name"] not in names and OPTIONAL.isdisjoint(names)
        depth += -1 if tag["slash"] else not (tag["own"] or (tag["name"] or "") in VOID | OPTIONAL)
    return False


def closing_tags(text: str, site: Site, language: str) -> str:
    """The closing tags of the elements that a middle leaves open: below them where they hold lines."""
    opened = list[tuple[str, str]]()
    for tag in _tags(text, language):
        if tag["slash"]:
            names = [name for name, _ in opened]
            del opened[len(names) - 1 - names[::-1].index(tag["name"] or "") if tag["name"] in names else len(names) :]
        elif not tag["own"] and not (language in HTML and tag["name"] in VOID):
            line = (site.before + text[: tag.start()]).rpartition("\n")[2]
            indent = line[: len(line) - len(line.lstrip())]
            opened.append((tag["name"] or "", f"\n{indent}" if "\n" in text[tag.end() :] else ""))
    return "".join(f"{before}</{name}>" for name, before in reversed(opened))


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
