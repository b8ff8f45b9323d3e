/** Draws drafts as they develop, in place of the text that they may replace: what is locked firmly, what is open faintly. */
import * as vscode from "vscode";
import { drawn, Drafts, type Draft, type DrawnLine } from "./drafts";
import { liveDrafts } from "./settings";

const LOCKED = new vscode.ThemeColor("editor.foreground");
const OPEN = new vscode.ThemeColor("editorGhostText.foreground");

export class DraftView implements vscode.Disposable {
  private readonly drafts = new Drafts();
  private readonly written = vscode.window.createTextEditorDecorationType({});
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
    this.written.dispose();
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
    editor.setDecorations(this.written, drafts.flatMap((draft) => drawn(draft).flatMap((line) => written(draft, line))));
  }
}

function rangeOf({ start, end }: Draft): vscode.Range {
  return new vscode.Range(start.line, start.character, end.line, end.character);
}

/** One decoration for each piece, all at one place: the editor keeps their order. */
function written(draft: Draft, { line, pieces }: DrawnLine): vscode.DecorationOptions[] {
  const column = line === draft.start.line ? draft.start.character : 0;
  return pieces.map(({ text, isLocked }) => ({
    range: new vscode.Range(line, column, line, column),
    renderOptions: { before: { contentText: text.replaceAll(" ", "\u00a0"), color: isLocked ? LOCKED : OPEN } },
  }));
}
