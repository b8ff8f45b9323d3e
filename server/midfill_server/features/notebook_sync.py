"""notebookDocument/didOpen, didChange, didSave, didClose: cells as documents, and their order.

A client without these opens each cell as a document of its own, whose neighbours are then not known.
"""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from midfill_server.features.text_sync import changed, closed, opened
from midfill_server.session import Session


def register(server: LanguageServer, session: Session) -> None:
    """Keep the notebooks of `session`."""
    notebooks = session.notebooks

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenNotebookDocumentParams) -> None:
        for item in params.cell_text_documents:
            opened(item, session)
        notebooks.open(params.notebook_document.uri, _uris(params.notebook_document.cells))

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeNotebookDocumentParams) -> None:
        if (cells := params.change.cells) is None:
            return
        if cells.structure is not None:
            _restructure(params.notebook_document.uri, cells.structure, session)
        for content in cells.text_content or ():
            changed(content.document, content.changes, session)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_SAVE)
    def did_save(_params: types.DidSaveNotebookDocumentParams) -> None:
        """Of no interest: what counts is what is open."""

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseNotebookDocumentParams) -> None:
        named = [document.uri for document in params.cell_text_documents]
        for uri in dict.fromkeys([*notebooks.close(params.notebook_document.uri), *named]):
            closed(uri, session)


def _restructure(uri: str, structure: types.NotebookDocumentCellChangeStructure, session: Session) -> None:
    for document in structure.did_close or ():
        closed(document.uri, session)
    for item in structure.did_open or ():
        opened(item, session)
    array = structure.array
    session.notebooks.splice(uri, array.start, array.delete_count, _uris(array.cells or ()))


def _uris(cells: Iterable[types.NotebookCell]) -> list[str]:
    return [cell.document for cell in cells]
