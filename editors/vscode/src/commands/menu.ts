/** The menu behind the status bar item: every command, and why one cannot be used now. */
import * as vscode from "vscode";
import type { Ability } from "../abilities";
import type { Asking } from "../asking";
import type { Server } from "../server";
import { languagesOff, model } from "../settings";
import { statusText } from "../status_text";

interface Entry extends vscode.QuickPickItem {
  readonly command?: string;
}

export async function menu(asking: Asking, server: Server): Promise<void> {
  const { tooltip } = statusText({ ...server.shown, model: model() });
  const picked = await vscode.window.showQuickPick(entries(asking), { title: tooltip.split("\n").join("  ·  ") });
  if (picked?.command !== undefined) {
    await vscode.commands.executeCommand(picked.command);
  }
}

function entries(asking: Asking): Entry[] {
  const entry = (icon: string, label: string, command: string, ability?: Ability): Entry => {
    const reason = ability === undefined ? "" : asking.whyNot(ability);
    return reason
      ? { label: `$(circle-slash) ${label}`, description: reason }
      : { label: `$(${icon}) ${label}`, command: `midfill.${command}` };
  };
  const language = vscode.window.activeTextEditor?.document.languageId;
  const turn = language && languagesOff().includes(language) ? `Turn on for ${language}` : `Turn off for ${language}`;
  return [
    entry("sparkle", "Fill here", "fillHere"),
    entry("refresh", "Another draft", "anotherDraft"),
    entry("edit", "Rewrite selection…", "rewriteSelection", "rewrite"),
    entry("checklist", "Fill all holes", "fillAllHoles", "fillHoles"),
    entry("beaker", "Write a test", "writeTestHere", "writeTest"),
    entry("book", "Complete the docstring", "completeDocstring", "docstring"),
    separator(),
    entry("server-environment", "Choose model…", "chooseModel"),
    ...(language ? [entry("code", turn, "toggleLanguage")] : []),
    entry("graph", "Show statistics", "showStatistics", "stats"),
    separator(),
    entry("output", "Show log", "showLog"),
    entry("debug-restart", "Restart server", "restart"),
    entry("cloud-download", "Set up server…", "install"),
  ];
}

function separator(): Entry {
  return { label: "", kind: vscode.QuickPickItemKind.Separator };
}
