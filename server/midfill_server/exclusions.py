"""Where nothing is ever suggested: files that hold secrets, and what the user has excluded.

Secrets are known by the names of files and by their own shapes. There is no setting that lets them in.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from midfill_server.documents import Document
from midfill_server.settings import Settings
from midfill_server.uris import path_of

SECRET_CONFIGS = (".env", ".env.*", ".env-*", ".envrc", "*.env", "*.tfvars")
SECRET_KEYS = ("id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*.pem", "*.key", "*.p12", "*.pfx", "*.ppk")
SECRET_STORES = ("*.jks", "*.keystore", "*.kdbx", "*.asc", "*.gpg")
SECRET_WORDS = ("secrets", "secrets.*", "secret.*", "*.secret", "*.secrets", "credentials", "credentials.*")
SECRET_LOGINS = (".netrc", "_netrc", ".pgpass", ".npmrc", ".pypirc", ".htpasswd", ".git-credentials", ".dockercfg")
SECRETS = SECRET_CONFIGS + SECRET_KEYS + SECRET_STORES + SECRET_WORDS + SECRET_LOGINS


def why_off_in(document: Document, settings: Settings) -> str:
    """Why nothing is suggested in an open document; empty if something is."""
    reason = why_off(document.uri, document.language, settings)
    if reason:
        return reason
    if document.num_characters > settings.max_file_size:
        return f"off in files of more than {settings.max_file_size} characters"
    return "off in files with a secret in their text" if document.has_secret else document.kept_out


def why_off(uri: str, language: str, settings: Settings) -> str:
    """Why nothing is suggested in a document; empty if something is."""
    if not settings.enabled:
        return "switched off"
    if language in settings.languages_off:
        return f"switched off for {language}"
    path = path_of(uri)
    name = path.rpartition("/")[2].lower()
    if any(fnmatchcase(name, glob) for glob in SECRETS):
        return "off in files that may hold secrets"
    if any(matches(path, glob) for glob in settings.exclude_globs):
        return "excluded by midfill.excludeGlobs"
    return ""


def matches(path: str, glob: str) -> bool:
    """Whether a path, or an end of it that begins after a slash, fits a glob; `*` goes across slashes."""
    flat = glob.replace("**/", "*").replace("**", "*").lstrip("/")
    return fnmatchcase(path, glob) or fnmatchcase(path.lstrip("/"), flat) or fnmatchcase(path, f"*/{flat}")
