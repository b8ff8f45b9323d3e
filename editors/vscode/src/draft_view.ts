/** Draws drafts as they develop, in place of the text that they may replace: what is locked firmly, what is open faintly. */
import * as vscode from "vscode";
import { drawn, Drafts, few, type Draft, type DrawnLine } from "./drafts";
import { liveDrafts } from "./settings";

const MOST_PIECES = 24;
const LOCKED = new vscode.ThemeColor("editor.foreground");
const OPEN = new vscode.ThemeColor("editorGhostText.foreground");

export class DraftView implements vscode.Disposable {
  private readonly drafts = new Drafts();
  private readonly written = inOrder();
  /** The text that a draft is drawn over takes no room meanwhile. */
  private readonly covered = vscode.window.createTextEditorDecorationType({ textDecoration: "none; display: none" });
  private readonly listening = vscode.Disposable.from(
    vscode.workspace.onDidChangeTextDocument(({ document }) => this.forget(document)),
    vscode.workspace.onDidCloseTextDocument((document) => this.forget(document)),
    vscode.window.onDidChangeVisibleTextEditors((editors) => editors.forEach((editor) => this.draw(editor))),
  );

  /** `midfill/draft` has come. */
  told(raw: unknown): void {
    const uri = liveDrafts() ? this.drafts.told(raw) : undefined;
    if (uri !== undefined) {
      this.drawAll(vscode.Uri.parse(uri).toString());
    }
  }

  /** The server is gone, and with it what it was about to do. */
  clear(): void {
    this.drafts.clear();
    vscode.window.visibleTextEditors.forEach((editor) => this.draw(editor));
  }

  dispose(): void {
    this.listening.dispose();
    this.written.forEach((type) => type.dispose());
    this.covered.dispose();
  }

  private forget(document: vscode.TextDocument): void {
    this.drafts.forget(document.uri.toString());
    this.drawAll(document.uri.toString());
  }

  private drawAll(uri: string): void {
    vscode.window.visibleTextEditors.filter(({ document }) => document.uri.toString() === uri).forEach((editor) => this.draw(editor));
  }

  private draw(editor: vscode.TextEditor): void {
    const drafts = this.drafts.of(editor.document.uri.toString(), editor.document.version);
    editor.setDecorations(this.covered, drafts.map(rangeOf).filter((range) => !range.isEmpty));
    const lines = drafts.flatMap((draft) => drawn(draft).map((line) => written(draft, line)));
    this.written.forEach((type, index) => editor.setDecorations(type, lines.flatMap((line) => line.slice(index, index + 1))));
  }
}

function rangeOf({ start, end }: Draft): vscode.Range {
  return new vscode.Range(start.line, start.character, end.line, end.character);
}

/**
 * A type for each piece of a line. What stands at one place the editor puts in the order of the types' keys, and
 * what is of one type in no order at all.
 */
function inOrder(): vscode.TextEditorDecorationType[] {
  const types = Array.from({ length: MOST_PIECES }, () => vscode.window.createTextEditorDecorationType({}));
  return types.sort((one, other) => (one.key < other.key ? -1 : 1));
}

/** One decoration for each piece, all at one place. */
function written(draft: Draft, { line, pieces }: DrawnLine): vscode.DecorationOptions[] {
  const column = line === draft.start.line ? draft.start.character : 0;
  return few(pieces, MOST_PIECES).map(({ text, isLocked }) => ({
    range: new vscode.Range(line, column, line, column),
    renderOptions: { before: { contentText: text.replaceAll(" ", "\u00a0"), color: isLocked ? LOCKED : OPEN } },
  }));
}
