/** Show Statistics: what the server counted, as a text that is nobody's file. */
import * as vscode from "vscode";
import type { Asking } from "../asking";

export async function showStatistics(asking: Asking): Promise<void> {
  const told = await asking.ask("stats");
  if (told === undefined || told === null) {
    return;
  }
  const { text } = told as { text?: unknown };
  const content = typeof text === "string" ? text : JSON.stringify(told, undefined, 2);
  const document = await vscode.workspace.openTextDocument({ content, language: typeof text === "string" ? "markdown" : "json" });
  await vscode.window.showTextDocument(document, { preview: true });
}
