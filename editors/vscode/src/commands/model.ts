/** Choose Model: what the server lists, or a name or folder that the user knows. */
import * as vscode from "vscode";
import type { Asking } from "../asking";
import { asModels, describedModel } from "../models";
import { model, setModel } from "../settings";

interface Choice extends vscode.QuickPickItem {
  readonly choose: () => Promise<string | undefined>;
}

export async function chooseModel(asking: Asking): Promise<void> {
  const listed = asking.can("models") ? asModels(await asking.ask("models")) : [];
  const current = model();
  const named: Choice[] = listed.map((one) => ({
    ...describedModel(one, current),
    choose: async () => one.name,
  }));
  const kept: Choice[] = listed.some((one) => one.name === current)
    ? []
    : [{ label: `$(check) ${current}`, description: "in use", choose: async () => current }];
  const picked = await vscode.window.showQuickPick([...named, ...kept, ...others()], {
    title: "Model",
    placeHolder: asking.whyNot("models") || "Which model fills",
  });
  const chosen = await picked?.choose();
  if (chosen !== undefined && chosen !== current) {
    await setModel(chosen);
  }
}

function others(): Choice[] {
  return [
    { label: "$(folder) A folder with a checkpoint…", choose: folder },
    {
      label: "$(edit) Another name…",
      choose: async () => (await vscode.window.showInputBox({ title: "Model", prompt: "A preset's name" }))?.trim() || undefined,
    },
  ];
}

async function folder(): Promise<string | undefined> {
  const picked = await vscode.window.showOpenDialog({ canSelectFolders: true, canSelectFiles: false, title: "Checkpoint" });
  return picked?.[0]?.fsPath;
}
