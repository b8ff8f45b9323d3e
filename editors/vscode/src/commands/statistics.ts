/** Show Statistics: what the server counted, as a text that is nobody's file. */
import * as vscode from "vscode";
import type { Asking } from "../asking";

export async function showStatistics(asking: Asking): Promise<void> {
  const told = await asking.ask("stats");
  if (told === undefined || told === null) {
    return;
  }
  const isText = typeof told === "string";
  const content = isText ? told : JSON.stringify(told, undefined, 2);
  const document = await vscode.workspace.openTextDocument({ content, language: isText ? "markdown" : "json" });
  await vscode.window.showTextDocument(document, { preview: true });
}
