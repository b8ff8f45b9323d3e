"""Why nothing is suggested in a file, if that is so by rule. What the editor's own settings say is not known here."""

from __future__ import annotations

from collections.abc import Iterator

from midfill_server.commands.doctor.finding import Case, Finding, Level
from midfill_server.commands.languages import BY_SUFFIX
from midfill_server.documents import Document
from midfill_server.exclusions import why_off_in
from midfill_server.settings import Settings

TOPIC = "file"


def check(case: Case) -> Iterator[Finding]:
    """The rules that hold whatever the settings are."""
    if case.file is None:
        return
    try:
        text = case.file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        told = f"{case.file} cannot be read as UTF-8 text: {error}"
        yield Finding(topic=TOPIC, told=told, level=Level.BROKEN, remedy=f"ls -l {case.file}; file {case.file}")
        return
    language = BY_SUFFIX.get(case.file.suffix.lower(), "")
    reason = why_off_in(Document(case.file.absolute().as_uri(), language, None, text), Settings())
    if reason:
        remedy = "meant to be so; another name, or a text without secrets, and it is on"
        yield Finding(topic=TOPIC, told=f"{case.file}: {reason}", level=Level.HINT, remedy=remedy)
    else:
        told = f"{case.file}: nothing keeps suggestions off but your editor's own settings (midfill.languagesOff, ...)"
        yield Finding(topic=TOPIC, told=told)
