/** Rewrite Selection: asks what to do with it, remembers what was said before. */
import * as vscode from "vscode";
import type { Asking } from "../asking";
import { remembered } from "../history";
import { documentAt, positionAt } from "./place";

const HISTORY = "rewrite.history";

export async function rewriteSelection(asking: Asking, memory: vscode.Memento): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const reason = asking.whyNot("rewrite") || (editor === undefined || editor.selection.isEmpty ? "nothing is selected" : "");
  if (reason || editor === undefined) {
    asking.say(reason);
    return;
  }
  const place = { ...documentAt(editor), range: positionAt(editor).range };
  const history = memory.get<string[]>(HISTORY, []);
  const instruction = await instructionFromUser(history);
  if (instruction !== undefined) {
    await memory.update(HISTORY, remembered(history, instruction));
    await asking.ask("rewrite", { ...place, instruction });
  }
}

interface Choice extends vscode.QuickPickItem {
  readonly instruction: string;
}

/** What was typed, or picked from earlier; empty: just another draft; undefined: leave it. */
function instructionFromUser(history: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    const box = vscode.window.createQuickPick<Choice>();
    box.title = "Rewrite the selection";
    box.placeholder = "What to do with it";
    const refresh = () => {
      box.items = choices(box.value.trim(), history);
    };
    refresh();
    box.onDidChangeValue(refresh);
    box.onDidAccept(() => {
      resolve(box.selectedItems[0]?.instruction);
      box.hide();
    });
    box.onDidHide(() => {
      resolve(undefined);
      box.dispose();
    });
    box.show();
  });
}

function choices(typed: string, history: readonly string[]): Choice[] {
  const now = typed
    ? { label: typed, instruction: typed, alwaysShow: true }
    : { label: "$(refresh) A fresh draft", instruction: "" };
  const earlier = history
    .filter((instruction) => instruction !== typed)
    .map((instruction) => ({ label: instruction, instruction, iconPath: new vscode.ThemeIcon("history") }));
  return [now, ...earlier];
}
