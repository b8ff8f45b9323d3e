/** Write a Test, Complete the Docstring: for the function that the cursor is in. */
import * as vscode from "vscode";
import type { Ability } from "../abilities";
import type { Asking } from "../asking";
import { documentAt, positionAt } from "./place";

export async function writeTest(asking: Asking): Promise<void> {
  await askHere(asking, "writeTest");
}

export async function completeDocstring(asking: Asking): Promise<void> {
  await askHere(asking, "docstring");
}

async function askHere(asking: Asking, ability: Ability): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) {
    asking.say("no file is open");
    return;
  }
  await asking.ask(ability, { ...documentAt(editor), position: positionAt(editor).position });
}
