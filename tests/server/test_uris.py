"""From uris to places, as all clients write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from midfill_server.uris import is_inside, local_path, path_of, place_of, uri_of


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("file:///a/b%20c.py", "/a/b c.py"),
        ("file:///c%3A/a.py", "c:/a.py"),
        ("file:///C:/a.py", "c:/a.py"),
        ("file:///c:", "c:"),
        ("file://server/share/a.py", "/share/a.py"),
        ("vscode-remote://ssh-remote%2Bhost/home/a.py", "/home/a.py"),
        ("vscode-notebook-cell:/a/n.ipynb#W0s", "/a/n.ipynb"),
        ("untitled:Untitled-1", "Untitled-1"),
        ("file://[", ""),
        ("", ""),
    ],
)
def test_the_path_in_a_uri(uri: str, expected: str) -> None:
    assert path_of(uri) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("file:///c%3A/A", "file:///C:/a/"),
        ("file:///a/", "file://localhost/a"),
        ("file:///a%20b", "file:///a b"),
        ("vscode-notebook-cell:/a#x", "file:///a"),
    ],
)
def test_two_ways_to_write_one_place(one: str, other: str) -> None:
    assert place_of(one) == place_of(other)


@pytest.mark.parametrize(
    ("uri", "folder", "expected"),
    [
        ("file:///a/b/c.py", "file:///a", True),
        ("file:///ab/c.py", "file:///a", False),
        ("file:///a", "file:///a", False),
        ("file:///a/c.py", "file:///", True),
        ("file:///c%3A/w/c.py", "file:///C:/w", True),
        ("file://server/a/c.py", "file:///a", False),
        ("file://server/a/c.py", "file://SERVER/a", True),
        ("vscode-remote://ssh-remote%2Bhost/a/c.py", "vscode-remote://ssh-remote+host/a", True),
        ("vscode-notebook-cell:/a/n.ipynb#c", "file:///a", True),
        ("untitled:Untitled-1", "file:///", False),
    ],
)
def test_what_lies_in_a_folder(uri: str, folder: str, expected: bool) -> None:
    assert is_inside(uri, folder) is expected


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("file:///a%20b", Path("/a b")),
        ("file://server/a", None),
        ("file:///a%00", None),
        ("vscode-remote://host/a", None),
        ("untitled:a", None),
        ("file://[", None),
    ],
)
def test_what_is_on_this_machines_disks(uri: str, expected: Path | None) -> None:
    assert local_path(uri) == expected


def test_the_folder_of_an_old_client() -> None:
    assert [uri_of("/a b"), uri_of("C:\\a")] == ["file:///a%20b", "file:///C%3A/a"]
