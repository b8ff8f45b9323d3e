/** Fill Here, Another Draft, Fill All Holes. */
import * as vscode from "vscode";
import type { Asking } from "../asking";
import { documentAt, positionAt } from "./place";

/** A suggestion on demand; a place where none can be shown is filled by the server itself. */
export async function fillHere(asking: Asking): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor !== undefined && !editor.selection.isEmpty && asking.can("fill")) {
    await asking.ask("fill", { ...documentAt(editor), range: positionAt(editor).range });
    return;
  }
  await vscode.commands.executeCommand("editor.action.inlineSuggest.trigger");
}

/** One that the server makes anew, or the next of those that it has for this place. */
export async function anotherDraft(asking: Asking, isShown: boolean): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor !== undefined && !isShown && asking.can("nextDraft")) {
    await asking.ask("nextDraft", { ...documentAt(editor), position: positionAt(editor).position });
    return;
  }
  await vscode.commands.executeCommand(`editor.action.inlineSuggest.${isShown ? "showNext" : "trigger"}`);
}

export async function fillAllHoles(asking: Asking): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) {
    asking.say("no file is open");
    return;
  }
  await asking.ask("fillHoles", documentAt(editor));
}

export async function fillHolesOfSelection(asking: Asking): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined || editor.selection.isEmpty) {
    asking.say("nothing is selected");
    return;
  }
  await asking.ask("fillHoles", { ...documentAt(editor), range: positionAt(editor).range });
}
