"""The language of a file, by the names that the language server protocol has for them."""

from __future__ import annotations

from pathlib import Path

BY_SUFFIX = {
    ".c": "c",
    ".cc": "cpp",
    ".cpp": "cpp",
    ".cs": "csharp",
    ".css": "css",
    ".go": "go",
    ".h": "c",
    ".hpp": "cpp",
    ".html": "html",
    ".java": "java",
    ".js": "javascript",
    ".json": "json",
    ".jsx": "javascriptreact",
    ".kt": "kotlin",
    ".lua": "lua",
    ".md": "markdown",
    ".php": "php",
    ".py": "python",
    ".pyi": "python",
    ".rb": "ruby",
    ".rs": "rust",
    ".scala": "scala",
    ".sh": "shellscript",
    ".sql": "sql",
    ".swift": "swift",
    ".toml": "toml",
    ".ts": "typescript",
    ".tsx": "typescriptreact",
    ".yaml": "yaml",
    ".yml": "yaml",
}


def language_of(path: Path | None) -> str:
    """Empty if unknown."""
    return "" if path is None else BY_SUFFIX.get(path.suffix.lower(), "")
