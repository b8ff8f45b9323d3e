/** An editor's document and place, as the protocol wants them. */
import type * as vscode from "vscode";

export function documentAt({ document }: vscode.TextEditor): { textDocument: { uri: string; version: number } } {
  return { textDocument: { uri: document.uri.toString(), version: document.version } };
}

export function positionAt({ selection }: vscode.TextEditor): { position: object; range: object } {
  const [start, end, active] = [selection.start, selection.end, selection.active].map(({ line, character }) => ({
    line,
    character,
  }));
  return { position: active!, range: { start, end } };
}
