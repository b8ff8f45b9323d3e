"""Replacements as a workspace edit, as each client wants it: versioned, annotated, or plain."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from midfill_server.client_facts import ClientFacts
from midfill_server.ondemand.desk import Outcome
from midfill_server.ondemand.place import Place
from midfill_server.positions import Encoding, Point, units_of, without_eol

ANNOTATION = "midfill"


def edit_of(outcome: Outcome, uri: str, facts: ClientFacts) -> types.WorkspaceEdit:
    """All replacements in one edit: one undo takes them back."""
    edits = [
        types.TextEdit(range_of_place(outcome.lines, replacement.place, facts.encoding), replacement.text)
        for replacement in outcome.replacements
    ]
    if not facts.has_versioned_edits:
        return types.WorkspaceEdit(changes={uri: edits})
    document = types.OptionalVersionedTextDocumentIdentifier(uri=uri, version=outcome.version)
    if not (outcome.needs_confirmation and facts.confirms_edits):
        return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(document, edits)])
    annotated = [types.AnnotatedTextEdit(ANNOTATION, edit.range, edit.new_text) for edit in edits]
    annotation = types.ChangeAnnotation(
        label=outcome.title, needs_confirmation=True, description=outcome.message or None
    )
    return types.WorkspaceEdit(
        document_changes=[types.TextDocumentEdit(document, annotated)], change_annotations={ANNOTATION: annotation}
    )


def range_of_place(lines: Sequence[str], place: Place, encoding: Encoding) -> types.Range:
    """A place in the client's units."""
    return types.Range(_position(lines, place.start, encoding), _position(lines, place.end, encoding))


def _position(lines: Sequence[str], point: Point, encoding: Encoding) -> types.Position:
    return types.Position(point.row, units_of(without_eol(lines[point.row]), point.column, encoding))
